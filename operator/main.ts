#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// A controller waits for the API server most of its time: it can well spend some of it on keeping its memory small.
setFlagsFromString('--heap-growing-percent=25')
// SIGTERM and SIGINT stop it. Of these others, SIGUSR1 would open Node's inspector, and the rest would kill.
for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
// Keeps what was compiled for the next start, which then takes half the time.
enableCompileCache()
const { main } = await import('./cli/main.ts')
process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
})
