// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Verdict } from './block-dates.ts'
import { sightingLifeMs } from './tip.ts'
import type { Upstream } from './upstream.ts'

/** An upstream tells a head that is far above those of all others. */
export interface Dispute {
  readonly higher: Upstream
  /** The head that it tells. */
  readonly block: number
  readonly lower: readonly Upstream[]
  /** Two of the lower ones agree, and some of them go on. */
  readonly isOutvoted: boolean
}

/** Who was found right. */
interface Settlement {
  readonly higher: Upstream
  readonly lower: ReadonlySet<Upstream>
  readonly isOutvoted: boolean
  readonly atMs: number
}

/**
 * What became of a dispute: the higher head is the chain's, or cannot be, or is to be withdrawn;
 * or nobody knows more than before.
 */
export type Ruling = 'believed' | 'refuted' | 'withdrawn' | 'open'

/** Heads that upstreams disagree on, and what the times of their blocks have told of them. */
export class Disputes {
  /** Whose head cannot be the chain's. */
  readonly #refuted = new Set<Upstream>()
  #settlement: Settlement | null = null
  /** When the dates of the head of each were last asked for. */
  readonly #askedMs = new Map<Upstream, number>()
  /** Of the last one against two that agree: they are right most often, and are not asked all the time. */
  #outvoted: Settlement | null = null

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

  /** Those who agreed with each other, against whom another is believed. */
  get overruled(): readonly Upstream[] {
    return this.#settlement?.isOutvoted ? [...this.#settlement.lower] : []
  }

  /** Nobody is believed against the others any more. */
  withdraw(): void {
    this.#settlement = null
  }

  /** Those of whom it was not shown that they are behind the one that is believed; all, when somebody was not heard. */
  votersAmong<T extends Upstream>(told: readonly T[]): readonly T[] {
    const { higher, lower } = this.#settlement ?? {}
    const wasHeard = (each: Upstream) => each === higher || lower?.has(each)
    return told.every(wasHeard) ? told.filter((each) => each === higher) : told
  }

  /** What was found out is so for a while, and only against those who were heard. */
  isSettled({ higher, lower, isOutvoted }: Dispute, nowMs: number): boolean {
    return [this.#settlement, isOutvoted ? this.#outvoted : null].some(
      (settled) =>
        settled?.higher === higher &&
        nowMs - settled.atMs <= sightingLifeMs &&
        lower.every((each) => settled.lower.has(each)),
    )
  }

  /** All were asked for the dates of their heads, whatever came of it. */
  asked({ higher }: Dispute, nowMs: number): void {
    this.#askedMs.set(higher, nowMs)
  }

  /** All were asked since an upstream told its head. */
  wasAskedSince(higher: Upstream, toldMs: number): boolean {
    return (this.#askedMs.get(higher) ?? -Infinity) >= toldMs
  }

  /** @param verdicts one for each of the lower heads */
  rule(
    { higher, lower, isOutvoted }: Dispute,
    verdicts: readonly Verdict[],
    nowMs: number,
  ): Ruling {
    const heard = { higher, lower: new Set(lower), isOutvoted, atMs: nowMs }
    if (isOutvoted) this.#outvoted = heard
    const isBelieved = this.#settlement?.higher === higher
    const speaksAgainst = verdicts.includes('refuted') || verdicts.includes('keeps-up')
    if (verdicts.includes('refuted')) this.#refuted.add(higher)
    if (speaksAgainst) {
      return isBelieved ? 'withdrawn' : this.#refuted.has(higher) ? 'refuted' : 'open'
    }
    const isProven = verdicts.every((verdict) => verdict === 'behind' || verdict === 'apart')
    if (!isProven && !isBelieved) return 'open'
    if (isProven) this.#refuted.delete(higher)
    this.#settlement = heard
    return isProven ? 'believed' : 'open'
  }
}
