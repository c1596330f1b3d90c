// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parentPort, workerData } from 'node:worker_threads'
import { loadSpec } from '../engine.ts'
import { takeSeeds, type SharedSeeds } from '../seeds.ts'
import { runSubscriptionSeeds } from './run-seeds.ts'

/** One core's part of `make sim-subscriptions`. */
if (parentPort === null) throw new Error('this file is run by sim.ts, as a worker')
const port = parentPort
Error.stackTraceLimit = 0
const report = await runSubscriptionSeeds(takeSeeds(workerData as SharedSeeds), await loadSpec())
port.postMessage({ report })
