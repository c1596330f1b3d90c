// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** One deliberate mistake in the engine. */
export interface Mutant {
  /** What it breaks. */
  readonly name: string
  /** From the project's root. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly text: string
  readonly replacement: string
}
