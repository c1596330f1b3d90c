// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena, Exchange } from './arena.ts'

/** A head reported this long before the newest one does not count for the tip. */
const memoryMs = 60_000

/** A head that one upstream reported over the wire. */
interface Reported {
  readonly head: number
  readonly sentMs: number
  readonly endedMs: number
  /** The printable form of the URL. */
  readonly printable: string
}

/** Records the heads that went over the wire, and compares the engine's heads and tip with them. */
export class TipWatch {
  readonly #arena: Arena
  readonly #reported = new Map<string, Reported>()

  constructor(arena: Arena) {
    this.#arena = arena
  }

  ended({ place, callId, method, fate, saysError, isAborted, head, sentMs, endedMs }: Exchange) {
    if (callId !== null || method !== 'eth_blockNumber' || endedMs === null) return
    if (fate.kind !== 'honest' || saysError || isAborted) return
    const { upstream, printable } = place
    this.#reported.set(upstream, { head, sentMs, endedMs, printable })
  }

  look(): void {
    const { pool, clock } = this.#arena
    const nowMs = clock.nowMs()
    for (const { name, latest, urls } of pool.upstreams) {
      // A head that jumped counts once its URL is verified again.
      if (urls.some(({ head }) => head === null)) continue
      const reported = this.#reported.get(name)
      // In the moment of its end the engine may not have read it yet.
      if (!reported || reported.endedMs >= nowMs) continue
      const isKnown = latest !== null && latest.atMs >= reported.endedMs
      // A later report overtakes it: the upstream's, or the same URL's if the URLs are at different heads.
      const own = urls.find(({ printable }) => printable === reported.printable)
      const isOvertaken = [latest, own?.head].some(
        (later) => later && reported.head <= later.block && reported.sentMs < later.atMs,
      )
      if (!isKnown && !isOvertaken)
        this.#arena.report('head-is-known', `${name} reported ${reported.head}`)
    }
    this.#compareTip()
  }

  /**
   * The tip is one of the heads. With three or more, it is at least the highest that two nodes have reached within the
   * allowed lag. Heads with an old timestamp do not count, and a fresh head wins until all nodes have reported their status.
   */
  #compareTip(): void {
    const { pool, allowedLagBlocks } = this.#arena
    const known = pool.upstreams.flatMap(({ latest, isInService }) =>
      latest && isInService ? [latest] : [],
    )
    const newestMs = Math.max(...known.map(({ atMs }) => atMs))
    const heads = known.filter(({ atMs }) => atMs >= newestMs - memoryMs).map(({ block }) => block)
    const isBacked = (block: number) =>
      heads.filter((other) => other >= block - allowedLagBlocks).length > 1
    const isSettled = pool.upstreams.every(({ latest, status }) => !latest || status !== null)
    const least = isSettled && heads.length > 2 ? Math.max(...heads.filter(isBacked)) : 0
    const expected = heads.filter((block) => block >= least)
    const { tip } = pool
    const isTrue = tip === null ? heads.length === 0 : expected.includes(tip)
    if (!isTrue)
      this.#arena.report('tip-is-true', `the tip is ${tip}, not ${expected.join(' or ')}`)
  }
}
