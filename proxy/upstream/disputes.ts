// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Verdict } from './block-dates.ts'
import { sightingLifeMs } from './tip.ts'
import type { Upstream } from './upstream.ts'

/** An upstream tells a head that is far above those of all others, and two of these do not agree. */
export interface Dispute {
  readonly higher: Upstream
  /** The head that it tells. */
  readonly block: number
  readonly lower: readonly Upstream[]
}

/** Who was found right. */
interface Settlement {
  readonly higher: Upstream
  readonly lower: ReadonlySet<Upstream>
  readonly atMs: number
}

/**
 * What became of a dispute: the higher head is the chain's, or cannot be, or is not believed any more;
 * or nobody knows more than before.
 */
export type Ruling = 'believed' | 'refuted' | 'withdrawn' | 'open'

/** Heads that upstreams disagree on, and what the times of their blocks have told of them. */
export class Disputes {
  /** Whose head cannot be the chain's. */
  readonly #refuted = new Set<Upstream>()
  #settlement: Settlement | null = null

  isRefuted(upstream: Upstream): boolean {
    return this.#refuted.has(upstream)
  }

  /** Its head is above nobody's any more. */
  forgive(upstream: Upstream): void {
    this.#refuted.delete(upstream)
  }

  /** Whose head is believed against all others; null: nobody's. */
  get believed(): Upstream | null {
    return this.#settlement?.higher ?? null
  }

  /** What was found out is so for a while, and only against those who were heard. */
  isSettled({ higher, lower }: Dispute, nowMs: number): boolean {
    const settled = this.#settlement
    if (settled?.higher !== higher || nowMs - settled.atMs > sightingLifeMs) return false
    return lower.every((each) => settled.lower.has(each))
  }

  /** @param verdicts one for each of the lower heads */
  rule({ higher, lower }: Dispute, verdicts: readonly Verdict[], nowMs: number): Ruling {
    const isBelieved = this.#settlement?.higher === higher
    const speaksAgainst = verdicts.includes('refuted') || verdicts.includes('keeps-up')
    if (verdicts.includes('refuted')) this.#refuted.add(higher)
    if (speaksAgainst) {
      if (isBelieved) this.#settlement = null
      return isBelieved ? 'withdrawn' : this.#refuted.has(higher) ? 'refuted' : 'open'
    }
    const isProven = verdicts.every((verdict) => verdict === 'behind')
    if (!isProven && !isBelieved) return 'open'
    if (isProven) this.#refuted.delete(higher)
    this.#settlement = { higher, lower: new Set(lower), atMs: nowMs }
    return isProven ? 'believed' : 'open'
  }
}
