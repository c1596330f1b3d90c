// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptedExitCode } from '../e2e/processes/interrupt.ts'

/** Makes a folder for this program, which goes when it ends, also by a signal, as do the processes that it started. */
export function scratchDirectory(name: string): string {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(interruptedExitCode))
  const directory = mkdtempSync(join(tmpdir(), `rpc-router-${name}-`))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}
