// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { engineSimulation } from '../engine-simulation.ts'
import { hunt } from '../runner/hunt.ts'

await hunt(engineSimulation)
