#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { enableCompileCache } from 'node:module'

// SIGTERM and SIGINT stop it; SIGHUP reloads. SIGUSR1 would open an inspector, others kill.
for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
// Keeps what was compiled for the next start, which then takes half the time.
enableCompileCache()
const { main } = await import('./cli/main.ts')
// The clock's timers and idle connections hold no process: it would end in the middle of a stop.
const alive = setInterval(() => {}, 60_000)
process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
}).finally(() => clearInterval(alive))
