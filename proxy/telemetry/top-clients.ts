// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ListenerObserver } from '../listener/listener.ts'
import type { Client } from '../relay/call.ts'
import { isFailure, outcomeOf } from './call-counters.ts'
import { clean } from './format.ts'
import { boundedAgent } from './shown-client.ts'

const windowMs = 60_000
/** Clients counted at once. Each of them with more than 1/64 of the calls is certainly counted. */
const maxCounted = 64
const maxListed = 5

interface Tally {
  count: number
  /** How much of the count may be due to clients that were counted in its place before. */
  readonly excess: number
  readonly address: string
  readonly userAgent: string | null
}

/** Counts the most frequent clients of a stream in bounded memory ("space-saving"). */
class FrequentClients {
  readonly tallies = new Map<string, Tally>()
  total = 0

  add(client: Client): void {
    // Many clients may share an address, such as that of a load balancer.
    const userAgent = boundedAgent(client.userAgent)
    const key = `${client.address} ${userAgent}`
    this.total += 1
    const tally = this.tallies.get(key)
    if (tally) tally.count += 1
    else this.#enter(key, client.address, userAgent)
  }

  /** The new client takes the place of the one with the lowest count. */
  #enter(key: string, address: string, userAgent: string | null): void {
    let least: string | null = null
    let excess = 0
    if (this.tallies.size >= maxCounted)
      for (const [each, { count }] of this.tallies)
        if (least === null || count < excess) [least, excess] = [each, count]
    if (least !== null) this.tallies.delete(least)
    this.tallies.set(key, { count: excess + 1, excess, address, userAgent })
  }
}

/** The last minute: what the current window counted, and a share of the one before. */
class LastMinute {
  #before = new FrequentClients()
  #now = new FrequentClients()
  #startedMs = -Infinity

  add(client: Client, nowMs: number): void {
    this.#rotate(nowMs)
    this.#now.add(client)
  }

  top(nowMs: number) {
    this.#rotate(nowMs)
    const share = 1 - (nowMs - this.#startedMs) / windowMs
    const sums = new Map<string, { perMinute: number; address: string; userAgent: string | null }>()
    for (const [window, weight] of [[this.#before, share] as const, [this.#now, 1] as const])
      for (const [key, { count, excess, address, userAgent }] of window.tallies) {
        const sum = sums.getOrInsertComputed(key, () => ({ perMinute: 0, address, userAgent }))
        sum.perMinute += (count - excess) * weight
      }
    const all = [...sums.values()].toSorted((a, b) => b.perMinute - a.perMinute)
    return {
      /** Of all clients. */
      perMinute: Math.round(this.#before.total * share + this.#now.total),
      clients: all
        .map(({ perMinute, address, userAgent }) => ({
          ...{ address, userAgent: userAgent && clean(userAgent) },
          perMinute: Math.round(perMinute),
        }))
        .filter(({ perMinute }) => perMinute > 0)
        .slice(0, maxListed),
    }
  }

  #rotate(nowMs: number): void {
    const ageMs = nowMs - this.#startedMs
    if (ageMs < windowMs) return
    this.#before = ageMs < 2 * windowMs ? this.#now : new FrequentClients()
    this.#now = new FrequentClients()
    this.#startedMs = ageMs < 2 * windowMs ? this.#startedMs + windowMs : nowMs
  }
}

/** The clients with the most calls, errors and refusals in the last minute. */
export class TopClients {
  readonly #clock: Clock
  readonly #calls = new LastMinute()
  readonly #errors = new LastMinute()
  readonly #refusals = new LastMinute()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly listenerObserver = (): Pick<ListenerObserver, 'callEnded' | 'requestRefused'> => ({
    callEnded: (call, end, durationMs) => {
      const { client, journal } = call
      if (!client) return
      const nowMs = journal.startedMs + durationMs
      this.#calls.add(client, nowMs)
      const outcome = outcomeOf(call, end)
      if (outcome === 'node-error' || isFailure(outcome)) this.#errors.add(client, nowMs)
      if (end.kind === 'error' && end.error.isCallersFault) this.#refusals.add(client, nowMs)
    },
    requestRefused: (_error, _guid, client) => {
      if (client) this.#refusals.add(client, this.#clock.nowMs())
    },
  })

  /** Never a metric label, because clients are unbounded. */
  top() {
    const nowMs = this.#clock.nowMs()
    return {
      calls: this.#calls.top(nowMs),
      /** Includes errors that are the node's answer, such as reverts. */
      errors: this.#errors.top(nowMs),
      refusals: this.#refusals.top(nowMs),
    }
  }
}
