// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { sourceLimits } from './spec-file.ts'

/** An archive that cannot be used, told as the user needs it: a sentence without its subject. */
export class ArchiveFailure extends Error {
  override readonly name = 'ArchiveFailure'
}

/** The limits that hold for one archive. */
export type ArchiveLimits = { readonly [Key in keyof typeof sourceLimits]: number }

/** What is said of an archive that is over a limit. */
export function tooLong(bytes: number): string {
  return `is longer than ${bytes >> 20} MiB.`
}
