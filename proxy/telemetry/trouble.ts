// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { isServing, type PoolSnapshot, type UpstreamSnapshot } from '../upstream/observer.ts'
import { isFailure } from './call-counters.ts'
import { timeOf } from './config-state.ts'
import { countsText, percent, time } from './format.ts'

/*
 * Finds upstreams that work only in part, from counters, for log, console and page alike.
 */

/** Keyed by a router term, such as an outcome. */
export type Counts = Readonly<Record<string, number>>
/** Tables such as `ETH1 jsonrpc node-a attempts`, keyed by phrases such as `hedge answer`. */
export type Tables = Readonly<Record<string, Counts>>

/** Growth of counters, without tables that did not grow. */
export function growthOf(now: Tables, before: Tables): Tables {
  const tables = Object.entries(now).map(([table, counts]) => {
    const grown = Object.entries(counts).map(
      ([word, count]) => [word, count - (before[table]?.[word] ?? 0)] as const,
    )
    return [table, Object.fromEntries(grown)] as const
  })
  return Object.fromEntries(tables.filter(([, counts]) => totalOf(counts) > 0))
}

const notFailed = ['answer', 'overtaken', 'aborted', 'running']

/** Failures by class. @param counts of calls or attempts; the last word of a key is the result */
export function failuresOf(counts: Counts): Counts {
  const failures: Record<string, number> = {}
  for (const [word, count] of Object.entries(counts)) {
    const result = word.split(' ').at(-1) ?? word
    if (count > 0 && isFailure(result) && !notFailed.includes(result))
      failures[result] = (failures[result] ?? 0) + count
  }
  return failures
}

/** @param begin prefix of the keys to sum */
export function totalOf(counts: Counts, begin = ''): number {
  let total = 0
  for (const [word, count] of Object.entries(counts)) if (word.startsWith(begin)) total += count
  return total
}

/** Thresholds for slowness against a chain's fastest upstream. */
const slow = { times: 4, ms: 250, attempts: 5 } as const

type Timed = Pick<UpstreamSnapshot, 'latencyMs' | 'fault'>
/** How slow an upstream is against the fastest one; null: not slow, few calls, or a worse fault. */
export function slownessOf(
  { latencyMs, fault }: Timed,
  all: readonly Timed[],
  attempts: Counts,
): string | null {
  const ownMs = latencyMs ?? 0
  const fastestMs = Math.min(...all.map((one) => one.latencyMs ?? Infinity))
  const isSlow = ownMs > Math.max(fastestMs * slow.times, fastestMs + slow.ms)
  if (!isSlow || totalOf(attempts) < slow.attempts || fault !== null) return null
  return `slow: ${time(ownMs / 1_000)} on average, the fastest one ${time(fastestMs / 1_000)}`
}

/** Number of bad attempts to put down to bad luck. */
const luck = 2
/** Share of attempts that bad ones beyond `luck` must reach. At healthy nodes, hedges win 4 %. */
const share = 0.05
/** Multiplies the share for an upstream in trouble, which must improve beyond it. */
const ease = 0.5
type Trouble = 'failed' | 'overtaken'

/**
 * What is wrong with an upstream that works in part, in words; null: nothing.
 * @param attempts counts by `kind result` @param urls counts by `position result`, probes included
 * @param isKnown whether it was in trouble before
 * @param slowness how slow its average call is, in words; null: not slow, or unknown
 * @param method of nearly all bad attempts; null: there is none
 */
export function troublesOf(
  attempts: Counts,
  urls: Counts,
  isKnown = false,
  slowness: string | null = null,
  method: string | null = null,
): Readonly<Record<Trouble, string | null>> {
  const isTrouble = (bad: number, all: number) =>
    bad > luck && bad - luck >= (isKnown ? ease : 1) * share * all
  const positions = [...new Set(Object.keys(urls).map((word) => word.split(' ')[0]))]
  const ofUrl = (kind: Trouble, position = '') => {
    const [failed, hung] = [urls[`${position} failed`] ?? 0, urls[`${position} overtaken`] ?? 0]
    const all = totalOf(urls, `${position} `)
    // If a URL answers nothing, its state already says so.
    if (all === failed + hung) return null
    const isFailing = isTrouble(failed, all)
    if (kind === 'failed') return isFailing ? `failed ${failed} of ${all} requests` : null
    if (isTrouble(hung, all)) return `hung in ${hung} of ${all} requests`
    const isBoth = hung > 0 && !isFailing && isTrouble(failed + hung, all)
    return isBoth ? `failed or hung in ${failed + hung} of ${all} requests` : null
  }
  const words = (kind: Trouble, bad: number, of: number, text: string) => {
    const whole = isTrouble(bad, of) ? [text] : []
    const parts = positions.flatMap((position) => {
      const part = ofUrl(kind, position)
      if (part === null) return []
      return positions.length > 1 ? `URL ${position} of ${positions.length} ${part}` : part
    })
    // With one URL, its clause would repeat that of the upstream.
    const all = [...whole, ...parts].slice(0, positions.length > 1 ? Infinity : 1)
    const found = method !== null && all.length > 0 ? [`nearly all in ${method}`] : []
    return [...all, ...found].join('; ') || null
  }
  const errors = failuresOf(attempts)
  const [failed, all] = [totalOf(errors), totalOf(attempts)]
  const [overtaken, firsts] = [attempts['first overtaken'] ?? 0, totalOf(attempts, 'first ')]
  const failing = `${Math.round((failed / all) * 100)} % of attempts fail: ${countsText(errors)}`
  const part = percent(overtaken / firsts)
  // A node that hangs in some calls is slow on average, too.
  const lead = slowness && overtaken >= firsts / 2 ? `${slowness};` : 'hangs:'
  const hanging = `${lead} another upstream overtook ${part} of its first attempts`
  return {
    failed: words('failed', failed, all, failing),
    overtaken: words('overtaken', overtaken, firsts, hanging),
  }
}

/** The pool of a chain and interface, named `ETH1 jsonrpc`. */
type SeenPool = Readonly<Record<'name' | 'chain' | 'interface', string>> & {
  readonly pool: Pick<PoolSnapshot, 'upstreams'>
}
type TroubledUpstream = Readonly<Record<'chain' | 'interface' | 'upstream', string>>

/** Names the method of nearly all attempts at an upstream that failed or hung. */
type MethodOfTrouble = (chain: string, iface: string, upstream: string) => string | null

/** Records since when upstreams work only in part, and in which method. */
export class Troubles {
  readonly #clock: Clock
  readonly #methodOf: MethodOfTrouble
  readonly #changed: (upstream: TroubledUpstream, why: string | null) => void
  /** By key, such as `ETH1 jsonrpc node-a`; in ISO 8601. */
  since: Readonly<Record<string, string>> = {}
  /** By the same keys; absent if several methods fail or hang. */
  methods: Readonly<Record<string, string>> = {}

  /** @param changed called when it begins and, with null, when the upstream works again */
  constructor(
    clock: Clock,
    changed: (upstream: TroubledUpstream, why: string | null) => void,
    methodOf: MethodOfTrouble = () => null,
  ) {
    this.#clock = clock
    this.#changed = changed
    this.#methodOf = methodOf
  }

  /** @param recent counts of attempts, by table */
  sampled(recent: Tables, pools: readonly SeenPool[]): void {
    const before = this.since
    const now: Record<string, string> = {}
    const methods: Record<string, string> = {}
    for (const { name, chain, interface: iface, pool } of pools)
      for (const each of pool.upstreams.filter(({ state }) => isServing(state))) {
        const key = `${name} ${each.name}`
        const { [`${key} attempts`]: attempts = {}, [`${key} urls`]: urls = {} } = recent
        const slowness = slownessOf(each, pool.upstreams, attempts)
        const whyOf = (method: string | null) =>
          Object.values(troublesOf(attempts, urls, key in before, slowness, method)).filter(
            (one) => one !== null,
          )
        let why = whyOf(null)
        if (why.length > 0) {
          now[key] = before[key] ?? timeOf(this.#clock.wallMs())
          const method = this.#methodOf(chain, iface, each.name)
          if (method !== null) why = whyOf((methods[key] = method))
        }
        if (key in now === key in before) continue
        this.#changed({ chain, interface: iface, upstream: each.name }, why.join('; ') || null)
      }
    // Other lines report upstreams that stop serving altogether.
    this.since = now
    this.methods = methods
  }
}
