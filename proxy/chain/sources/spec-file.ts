// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SpecProblem } from '../spec-error.ts'

/** One file of a source, as text. */
export interface SpecFile {
  /** As it is shown in messages. */
  readonly file: string
  readonly text: string
}

/** All that one source holds. */
export interface SourceFiles {
  readonly files: readonly SpecFile[]
  readonly problems: readonly SpecProblem[]
  /** `file`: named by the user, must be a spec; `archive`: other people's files lie beside. */
  readonly kind: 'file' | 'directory' | 'archive'
}

/** Limits on what a source may hold; a catalog of a hundred chains is about 3 MB. */
export const sourceLimits = {
  fileBytes: 8 * 2 ** 20,
  totalBytes: 64 * 2 ** 20,
  files: 5_000,
  entries: 100_000,
  archiveBytes: 32 * 2 ** 20,
  downloadMs: 30_000,
  redirects: 5,
} as const

/** Whether a name is one of a file that may be a spec. */
export function isSpecName(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name)
}
