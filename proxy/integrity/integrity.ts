// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef, Check } from '../chain/types.ts'
import type { IntegrityLevel } from '../config/types.ts'
import { checkBlock, checkIdentity, checkParent, type KnownParents } from './identity.ts'
import { checkLogs } from './logs.ts'
import { Proofs } from './proof.ts'
import { checkSent } from './sent.ts'
import type { Violation } from './violation.ts'

/** What a call requests, and what the spec says about answers to its method. */
export interface CheckedCall {
  readonly checks: readonly Check[]
  readonly block: BlockRef
}

/** The checks of one relay at its level, with their memory of earlier answers. */
export class Integrity {
  readonly level: IntegrityLevel
  readonly #parents: KnownParents
  readonly #proofs = new Proofs()

  constructor(level: IntegrityLevel, parents: KnownParents) {
    this.level = level
    this.#parents = parents
  }

  /** Whether `check` applies to the answer to such a call. If not, the answer needs no parsing. */
  looksAt({ checks }: CheckedCall): boolean {
    return checks.length > 0 && (this.level === 'core' || this.level === 'full')
  }

  /** The first violation in a result; null if there is none. */
  check(result: unknown, request: CheckedCall): Violation | null {
    if (!this.looksAt(request)) return null
    for (const check of request.checks) {
      const found = this.#apply(check, result, request)
      if (found) return found
    }
    return null
  }

  /** Two upstreams showed this violation, so a chain-dependent form is no longer compared. */
  passedOn({ form }: Violation): void {
    if (form !== undefined) this.#proofs.disable(form)
  }

  #apply({ rule, wanted: read }: Check, result: unknown, { block }: CheckedCall): Violation | null {
    const wanted = read?.()
    switch (rule.check) {
      case 'block':
        return checkBlock(rule, result, block)
      case 'identity':
        return checkIdentity(rule, result, wanted)
      case 'logs':
        return checkLogs(result, wanted, block)
      case 'sent':
        return checkSent(rule, result, wanted)
      case 'parent':
        return checkParent(rule, result, this.#parents)
      case 'proof':
        return this.level === 'full' ? this.#proofs.check(rule, result) : null
      case 'exists':
        return null
    }
  }
}
