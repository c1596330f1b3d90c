#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// A controller waits for the API server most of its time: it can well spend some of it on keeping its memory small.
setFlagsFromString('--heap-growing-percent=25')
// Keeps what was compiled for the next start, which then takes half the time.
enableCompileCache()
const { main } = await import('./cli/main.ts')
process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
})
