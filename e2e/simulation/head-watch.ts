// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena } from './arena.ts'
import type { Exchange } from './exchange.ts'
import type { Heard } from './heard.ts'

/** What one upstream told of its head, over the wire. */
interface Told {
  readonly head: number
  readonly sentMs: number
  readonly endedMs: number
}

/** Keeps a book of the heads that went over the wire, and compares the engine's with it. */
export class HeadWatch {
  readonly #arena: Arena
  readonly #told = new Map<string, Told>()
  /** The engine's sighting of each upstream, and the least that it was behind the tip when it was new. */
  readonly #least = new Map<
    string,
    { readonly latest: object; readonly lag: number; readonly tip: number }
  >()
  readonly #isQuiet: boolean
  #tip = -1

  constructor(arena: Arena) {
    this.#arena = arena
    const { chain, nodes } = arena.schedule
    // Where the tip may go back, how far one is behind is not to be told from before.
    this.#isQuiet =
      chain.reorgs.length === 0 &&
      nodes.every(({ urls }) =>
        urls.every(({ ailments }) => ailments.every(({ kind }) => kind !== 'lie')),
      )
  }

  ended({ place, callId, method, fate, saysError, isTakenBack, head, sentMs, endedMs }: Exchange) {
    if (callId !== null || method !== 'eth_blockNumber' || endedMs === null) return
    if (fate.kind !== 'honest' || saysError || isTakenBack) return
    this.#told.set(place.upstream, { head, sentMs, endedMs })
  }

  look({ nowMs, tip, upstreams, witnessed }: Heard): void {
    for (const upstream of this.#arena.pool.upstreams) {
      const { name, latest } = upstream
      const told = this.#told.get(name)
      // In the moment of its end the engine may not have read it yet.
      if (told && told.endedMs < nowMs) {
        const isHeard = latest !== null && latest.atMs >= told.endedMs
        const isOvertaken = latest !== null && told.head < latest.block && told.sentMs < latest.atMs
        if (!isHeard && !isOvertaken)
          this.#arena.report('head-is-heard', `${name} told ${told.head}, and it is not known`)
      }
      if (!latest || tip === null) continue
      const before = this.#least.get(name)
      const then =
        before?.latest === latest
          ? before
          : { latest, lag: this.#tip - latest.block, tip: this.#tip }
      this.#least.set(name, then)
      // A tip that nobody told for a minute is forgotten, and the next one may be lower.
      if (this.#isQuiet && tip >= Math.max(this.#tip, then.tip) && upstream.lagBlocks < then.lag)
        this.#arena.report(
          'lag-is-told',
          `${name} lags ${then.lag} blocks, told ${upstream.lagBlocks}`,
        )
    }
    if (witnessed !== null && (tip ?? -1) < witnessed)
      this.#arena.report('tip-is-true', `the tip is ${tip}, two have seen ${witnessed}`)
    // What one said alone may be taken back.
    this.#tip = upstreams.length > 1 ? (witnessed ?? -1) : -1
  }
}
