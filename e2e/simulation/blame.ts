// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena } from './arena.ts'
import type { Exchange, Place } from './exchange.ts'

/**
 * Counts, beside the engine, for how much each upstream may be blamed: never less than the engine
 * may count. A success of one call ends the row; what a client or the call's own end cut short, a
 * limit of a plan, and a block that a node does not have yet are nobody's failure.
 */
export class Blame {
  readonly #arena: Arena
  readonly #counts = new Map<string, number>()

  constructor(arena: Arena) {
    this.#arena = arena
  }

  /** @param isCutShort it was taken back before an upstream's own time was over */
  ended(exchange: Exchange, isCutShort: boolean): void {
    const { place, callId, fate, saysError, isTakenBack } = exchange
    const before = this.#counts.get(place.upstream) ?? 0
    if (fate.kind === 'honest' && !isTakenBack && !saysError) {
      if (callId !== null && !this.#lacksBlock(exchange)) this.#counts.set(place.upstream, 0)
      return
    }
    if (this.#hasOtherUrl(place)) return
    this.#counts.set(place.upstream, before + weightOf(fate, isTakenBack, isCutShort))
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
    const { failureThreshold } = this.#arena.schedule.settings
    const count = this.#counts.get(upstream) ?? 0
    if (count < failureThreshold && !this.#arena.isSlandered)
      this.#arena.report(
        'blame-is-fair',
        `${upstream} was disabled for ${count} failures in a row, ${failureThreshold} are needed`,
      )
  }
}

function weightOf(fate: Exchange['fate'], isTakenBack: boolean, isCutShort: boolean): number {
  if (isTakenBack) return isCutShort ? 0 : 1
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
