// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hunt } from '../runner/hunt.ts'
import { subscriptionSimulation } from './subscription-simulation.ts'

await hunt(subscriptionSimulation)
