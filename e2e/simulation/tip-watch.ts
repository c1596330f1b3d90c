// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Upstream } from '../../proxy/upstream/upstream.ts'
import type { Arena } from './arena.ts'
import { tipOf } from './head-watch.ts'

/** Nobody knows the tip by what was told longer ago. */
const memoryMs = 60_000

/**
 * Compares the tip that the engine believes in with the one before and with the chain. It may go
 * back after a reorganisation, when it was a liar's or only one of several had told it, or when it
 * was last seen a minute ago.
 */
export class TipWatch {
  readonly #arena: Arena
  readonly #liars: ReadonlySet<string>
  readonly #reorgsMs: readonly number[]
  #highest = -1
  #seenMs = -Infinity

  constructor(arena: Arena) {
    this.#arena = arena
    const { schedule } = arena
    this.#reorgsMs = schedule.chain.reorgs.map(({ atMs }) => atMs)
    this.#liars = new Set(
      schedule.nodes
        .filter(({ urls }) =>
          urls.some(({ ailments }) =>
            ailments.some((each) => each.kind === 'lie' && each.lies.includes('head-ahead')),
          ),
        )
        .map(({ name }) => name),
    )
  }

  look(): void {
    const { pool, clock } = this.#arena
    const { tip } = pool
    if (tip === null) return
    const nowMs = clock.nowMs()
    this.#compareWithChain(tip)
    const isForgotten = nowMs - this.#seenMs > memoryMs
    const isReorged = this.#reorgsMs.some((atMs) => atMs >= this.#seenMs && atMs <= nowMs)
    if (tip < this.#highest && !isForgotten && !isReorged && this.#liars.size === 0)
      this.#arena.report('tip-keeps', `the tip went from ${this.#highest} to ${tip}`)
    const toldMs = this.#corroboratedMs(tip)
    if (toldMs !== null && (tip >= this.#highest || isForgotten || isReorged)) {
      this.#highest = tip
      this.#seenMs = toldMs
    }
  }

  /**
   * When it was last told, where what the upstreams say now makes this the tip, and two say so, or
   * the only one that there is; else null: what one of several says may be taken back.
   */
  #corroboratedMs(tip: number): number | null {
    const { pool, allowedLagBlocks } = this.#arena
    const told = this.#heard().flatMap(({ latest }) => latest ?? [])
    const heads = told.map(({ block }) => block)
    const witnesses = told.filter(({ block }) => block >= tip - allowedLagBlocks)
    const isToldByEnough = witnesses.length >= Math.min(2, pool.upstreams.length)
    if (!isToldByEnough || tipOf(heads, allowedLagBlocks) !== tip) return null
    return Math.max(...witnesses.map(({ atMs }) => atMs))
  }

  /** Upstreams in service that told their block lately. */
  #heard(): readonly Upstream[] {
    const sinceMs = this.#arena.clock.nowMs() - memoryMs
    return this.#arena.pool.upstreams.filter(
      ({ latest, availability }) =>
        availability.standing === 'eligible' && latest !== null && latest.atMs >= sinceMs,
    )
  }

  /** One liar alone moves nothing while two others were heard lately. */
  #compareWithChain(tip: number): void {
    const { chain, allowedLagBlocks } = this.#arena
    const { head } = chain
    if (tip <= head || this.#liars.size > 1) return
    const heard = this.#heard().filter(
      ({ name, latest }) =>
        !this.#liars.has(name) && latest !== null && latest.block >= head - allowedLagBlocks,
    )
    if (heard.length >= 2)
      this.#arena.report('tip-is-true', `the tip is ${tip - head} blocks ahead of the chain`)
  }
}
