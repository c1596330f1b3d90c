// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rememberedLimits } from '../bytes/limits.ts'
import type { CheckRule } from '../chain/native/schema.ts'
import { mismatch } from './identity.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash } from '../json/values.ts'
import type { Violation } from './violation.ts'

/**
 * The parents of the blocks that were shown last, by hash. A reorg makes other blocks, with other
 * hashes; the parent of one block never changes.
 */
export class ParentMemory {
  readonly #parents = new Map<string, string>()

  check(
    { hash: hashPath, parent: parentPath }: Extract<CheckRule, { check: 'parent' }>,
    result: unknown,
  ): Violation | null {
    const hash = toHash(valueAt(result, hashPath))
    const parent = toHash(valueAt(result, parentPath))
    // A hash of zeros means none, and is empty here.
    if (!hash || !parent) return null
    const known = this.#parents.get(hash)
    if (known === parent) return null
    if (known === undefined) {
      this.#remember(hash, parent)
      return null
    }
    // One of the two was wrong, maybe the first: the next answer begins anew.
    this.#parents.delete(hash)
    return mismatch('parent', known, parent)
  }

  #remember(hash: string, parent: string): void {
    if (this.#parents.size >= rememberedLimits.parents) {
      const [oldest] = this.#parents.keys()
      if (oldest !== undefined) this.#parents.delete(oldest)
    }
    this.#parents.set(hash, parent)
  }
}
