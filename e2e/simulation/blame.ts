// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../../proxy/clock/clock.ts'
import type { Arena } from './arena.ts'
import { isFirm, toleranceMs, usualMs } from './check-ending.ts'
import type { Exchange, Place } from './exchange.ts'

/**
 * Counts, beside the engine, for how much each upstream may be blamed: never less than the engine
 * may count. A success of one call ends the row; what a client or the call's own end cut short, a
 * limit of a plan, and a block that a node does not have yet are nobody's failure. Who is late has
 * failed once for all calls that are late at a time, and only where nothing was heard of it meanwhile.
 */
export class Blame {
  readonly #arena: Arena
  readonly #counts = new Map<string, number>()
  /** When each URL last answered, or was found to be silent. */
  readonly #heardMs = new Map<string, number>()
  readonly #waiting = new Map<Exchange, { readonly lateMs: number; readonly cancel: Cancel }>()

  constructor(arena: Arena) {
    this.#arena = arena
  }

  sent(exchange: Exchange): void {
    const { clock } = this.#arena
    const client = exchange.callId === null ? undefined : this.#arena.calls.get(exchange.callId)
    if (!client || isFirm(this.#arena, client, exchange)) return
    const ms = usualMs(this.#arena, client, exchange)
    const cancel = clock.after(ms, () => {
      this.#noteLate()
    })
    this.#waiting.set(exchange, { lateMs: clock.nowMs() + ms, cancel })
  }

  ended(exchange: Exchange): void {
    const { place, callId, method, fate, saysError, isTakenBack } = exchange
    this.#noteLate()
    this.#forget(exchange)
    if (fate.kind === 'honest' && !isTakenBack && !saysError) {
      if (this.#lacksBlock(exchange)) return
      if (callId !== null) this.#counts.set(place.upstream, 0)
      if (callId !== null || method === 'eth_blockNumber')
        this.#heardMs.set(place.printable, this.#arena.clock.nowMs())
      return
    }
    this.#count(place, isTakenBack ? this.#weightOfTakenBack(exchange) : weightOf(fate))
  }

  /** A request with a time that somebody said has failed when that, and what is usual, is over. */
  #weightOfTakenBack(exchange: Exchange): number {
    const { callId, sentMs, endedMs } = exchange
    const client = callId === null ? undefined : this.#arena.calls.get(callId)
    if (!client) return 1
    if (!isFirm(this.#arena, client, exchange)) return 0
    const tookMs = (endedMs ?? sentMs) - sentMs
    return tookMs < usualMs(this.#arena, client, exchange) - toleranceMs ? 0 : 1
  }

  #noteLate(): void {
    const nowMs = this.#arena.clock.nowMs()
    for (const [exchange, { lateMs }] of this.#waiting) {
      if (lateMs > nowMs) continue
      this.#forget(exchange)
      const { printable } = exchange.place
      if ((this.#heardMs.get(printable) ?? -Infinity) > exchange.sentMs) continue
      this.#heardMs.set(printable, nowMs)
      this.#count(exchange.place, 1)
    }
  }

  #forget(exchange: Exchange): void {
    this.#waiting.get(exchange)?.cancel()
    this.#waiting.delete(exchange)
  }

  #count(place: Place, weight: number): void {
    if (this.#hasOtherUrl(place)) return
    this.#counts.set(place.upstream, (this.#counts.get(place.upstream) ?? 0) + weight)
  }

  /** A null that is asked again elsewhere is neither a failure nor a success. */
  #lacksBlock({ callId, head }: Exchange): boolean {
    if (callId === null || !this.#arena.schedule.settings.relay.retryMissingBlocks) return false
    const neededBlock = this.#arena.calls.get(callId)?.question.neededBlock ?? null
    return neededBlock !== null && head < neededBlock
  }

  /** One bad URL never costs the upstream while another of its URLs is well. */
  #hasOtherUrl({ upstream, printable }: Place): boolean {
    for (const seat of this.#arena.seats.values()) {
      const isOther = seat.upstream.name === upstream && seat.url.printable !== printable
      if (isOther && seat.url.failures === 0 && seat.url.serves([])) return true
    }
    return false
  }

  /** The engine takes an upstream out of service. */
  disabled(upstream: string): void {
    this.#noteLate()
    const { failureThreshold } = this.#arena.schedule.settings
    const count = this.#counts.get(upstream) ?? 0
    if (count < failureThreshold && !this.#arena.isSlandered)
      this.#arena.report(
        'blame-is-fair',
        `${upstream} was disabled for ${count} failures in a row, ${failureThreshold} are needed`,
      )
  }
}

function weightOf(fate: Exchange['fate']): number {
  if (fate.kind === 'lie') return 1
  if (fate.kind === 'honest') return 0
  switch (fate.illness) {
    case 'refuse':
    case 'crash':
      return 2
    case 'rate-limit':
    case 'quota':
      return 0
    default:
      return 1
  }
}
