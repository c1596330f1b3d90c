// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NativeSpec } from './native/schema.ts'

/** A chain of a source, not yet resolved. */
export interface ChainEntry {
  readonly id: string
  readonly aliases: readonly string[]
  /** Call it only when nothing was wrong with any source. */
  readonly resolve: () => NativeSpec
}
