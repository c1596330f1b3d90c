// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena } from './arena.ts'
import { memoryMs, type Heard } from './heard.ts'

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

  look(heard: Heard): void {
    const { tip, nowMs } = heard
    if (tip === null) return
    this.#compareWithChain(tip, heard)
    const isForgotten = nowMs - this.#seenMs > memoryMs
    const isReorged = this.#reorgsMs.some((atMs) => atMs >= this.#seenMs && atMs <= nowMs)
    if (tip < this.#highest && !isForgotten && !isReorged && this.#liars.size === 0)
      this.#arena.report('tip-keeps', `the tip went from ${this.#highest} to ${tip}`)
    const toldMs = this.#corroboratedMs(tip, heard)
    if (toldMs !== null && (tip >= this.#highest || isForgotten || isReorged)) {
      this.#highest = tip
      this.#seenMs = toldMs
    }
  }

  /**
   * When it was last told, where what the upstreams say now makes this the tip, and two say so, or
   * the only one that there is; else null: what one of several says may be taken back.
   */
  #corroboratedMs(tip: number, { upstreams, witnessed }: Heard): number | null {
    if (witnessed !== tip) return null
    const { pool, allowedLagBlocks } = this.#arena
    let witnesses = 0
    let toldMs = -Infinity
    for (const { latest } of upstreams)
      if (latest !== null && latest.block >= tip - allowedLagBlocks) {
        witnesses += 1
        toldMs = Math.max(toldMs, latest.atMs)
      }
    return witnesses >= Math.min(2, pool.upstreams.length) ? toldMs : null
  }

  /** One liar alone moves nothing while two others were heard lately. */
  #compareWithChain(tip: number, { upstreams }: Heard): void {
    const { chain, allowedLagBlocks } = this.#arena
    const { head } = chain
    if (tip <= head || this.#liars.size > 1) return
    const honest = upstreams.filter(
      ({ name, latest }) =>
        !this.#liars.has(name) && latest !== null && latest.block >= head - allowedLagBlocks,
    )
    if (honest.length >= 2)
      this.#arena.report('tip-is-true', `the tip is ${tip - head} blocks ahead of the chain`)
  }
}
