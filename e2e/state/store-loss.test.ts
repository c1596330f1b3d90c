// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { testLosses } from './store-loss.fixture.ts'

testLosses(1)
