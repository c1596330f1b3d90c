#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// A controller mostly waits for the API server, so it can trade CPU time for memory.
setFlagsFromString('--heap-growing-percent=25')
// Ignore these: SIGUSR1 would open Node's inspector, and the others would kill the process.
for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
// Halves the time of the next start.
enableCompileCache()
const { main } = await import('./cli/main.ts')
process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
})
