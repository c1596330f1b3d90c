// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptedExitCode } from '../e2e/processes/interrupt.ts'

/** Creates a folder. At exit, even by a signal, it is deleted and child processes are ended. */
export function scratchDirectory(name: string): string {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(interruptedExitCode))
  const directory = mkdtempSync(join(tmpdir(), `rpc-router-${name}-`))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}
