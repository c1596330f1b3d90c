// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parentPort, workerData } from 'node:worker_threads'
import { loadSpec } from './engine.ts'
import { runSeeds } from './run-seeds.ts'
import { takeSeeds, type SharedSeeds } from './seeds.ts'

/** One core's part of `make sim`. Tells how far it is, and at the end what came of it. */
if (parentPort === null) throw new Error('this file is run by sim.ts, as a worker')
const port = parentPort
// Thousands of errors are made and none of their stacks is read; writing them takes a tenth of the time.
Error.stackTraceLimit = 0
let done = 0
const report = await runSeeds(takeSeeds(workerData as SharedSeeds), await loadSpec(), () => {
  done += 1
  if (done % 100 === 0) port.postMessage({ done: 100 })
})
port.postMessage({ report })
