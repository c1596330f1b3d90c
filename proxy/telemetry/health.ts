// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { type ConfigState, timeOf } from './config-state.ts'
import {
  isOnBackup,
  isServing,
  type PoolObserver,
  type PoolSnapshot,
  takesCalls,
} from '../upstream/observer.ts'
import { clean, stateText } from './format.ts'
import type { RecentCounts } from './recent-counts.ts'
import { perListener } from './observers.ts'
import { Resources } from './resources.ts'
import { TopClients } from './top-clients.ts'
import { failuresOf, totalOf } from './trouble.ts'
import { counted } from '../words/counted.ts'

/**
 * How long listeners without any upstream may delay readiness. An operator looks every 30 s and
 * stops a rollout when a listener has been dark for 20 s; the rest is for a change of its leader.
 */
const graceMs = 90_000
/** Bounds of the reasons that a listener lists. */
const most = { upstreams: 4, characters: 200 }

/** The answer to a health request: HTTP status and plain text. */
export interface HealthAnswer {
  readonly status: 200 | 503
  readonly body: string
}

interface Listener {
  /** `ETH1 jsonrpc` */
  readonly name: string
  readonly snapshot: () => PoolSnapshot
  /** Whether any of its upstreams has served since the start. */
  isAnswered: boolean
}

/** A failing store, and the feature that fails without it. */
export interface StoreTrouble {
  /** `127.0.0.1:6379 (resp-cache)` */
  readonly name: string
  readonly feature: 'sessions' | 'cache'
  readonly why: string
  readonly since: string
}

/** Tracks the listeners from start to stop, and reports whether the router is ready and healthy. */
export class Health {
  readonly #clock: Clock
  readonly #config: Pick<ConfigState, 'facts'>
  readonly #graceEndsMs: number
  readonly #listeners: Listener[] = []
  /** Failing stores by feature; empty while all stores answer. */
  readonly stores = new Map<StoreTrouble['feature'], StoreTrouble>()
  readonly resources: Resources
  readonly clients: TopClients
  /** Counters of the last minute; null without an admin address. */
  counts: Pick<RecentCounts, 'read'> | null = null
  #isDraining = false

  /** @param lacks called once for each shortage of a resource */
  constructor(
    clock: Clock,
    config: Pick<ConfigState, 'facts'>,
    lacks?: ConstructorParameters<typeof Resources>[1],
  ) {
    this.#clock = clock
    this.#config = config
    this.resources = new Resources(clock, lacks)
    this.clients = new TopClients(clock)
    this.#graceEndsMs = clock.nowMs() + graceMs
  }

  /** A listener whose upstream served once is answered, whether anybody looked or not. */
  readonly poolObserver = perListener<Pick<PoolObserver, 'stateChanged'>>((of) => ({
    stateChanged: (_upstream, _from, { state }) => {
      if (!isServing(state)) return
      const name = `${of.chain} ${of.interface}`
      for (const each of this.#listeners) if (each.name === name) each.isAnswered = true
    },
  }))

  /** Called once for each listener, before the first health request. */
  register(name: string, snapshot: () => PoolSnapshot): void {
    this.#listeners.push({ name, snapshot, isAnswered: false })
  }

  /** Every chain and interface with its upstreams, how many serve, and why the others do not. */
  look() {
    return this.#listeners.map((listener) => {
      const { name } = listener
      const [chain = '', iface = ''] = name.split(' ')
      const pool = listener.snapshot()
      const others = pool.upstreams.filter(({ state }) => !isServing(state))
      const total = pool.upstreams.length
      const serving = total - others.length
      const lost = others.map(({ since }) => since).toSorted()
      listener.isAnswered ||= serving > 0
      return {
        ...{ name, chain, interface: iface, pool, serving, total },
        isOnBackup: isOnBackup(pool),
        /** When the last upstream stopped serving, in ISO 8601; null while one serves. */
        darkSince: serving > 0 ? null : (lost.at(-1) ?? null),
        why: whyOf(others),
      }
    })
  }

  /** The router is stopping, which is final. */
  drain(): void {
    this.#isDraining = true
  }

  /** `/readyz`: whether to send clients here. `?verbose` adds the config, and what is wrong. */
  readiness(isVerbose = false): HealthAnswer {
    const lines = this.look().map((each) => lineOf(each, isVerbose))
    const waiting = this.#listeners.filter(({ isAnswered }) => !isAnswered).length
    const why = this.#isDraining
      ? 'draining'
      : `no upstream answered yet on ${waiting} of ${counted(lines.length, 'listener')}`
    const isReady = !this.#isDraining && this.#isStarted
    const body = [
      isReady ? 'ready' : `not ready: ${why}`,
      ...lines,
      ...(isVerbose ? [...this.#shortageLines, ...this.#storeLines, this.#configLine] : []),
      '',
    ].join('\n')
    return { status: isReady ? 200 : 503, body }
  }

  /** `/metrics/overall-health`: started, not draining, and with an upstream that serves now. */
  overall(): HealthAnswer {
    const isServed = this.look().some(({ serving }) => serving > 0)
    return this.#isStarted && !this.#isDraining && isServed
      ? { status: 200, body: 'Health status OK' }
      : { status: 503, body: 'Unhealthy' }
  }

  /** `/status` as JSON for programs: the active config, listeners, upstreams and failing stores. */
  async status(): Promise<string> {
    const { counts = {} } = (await this.counts?.read())?.minute ?? {}
    const all = this.look()
    const listeners = all.map((each) => {
      return { ...each, name: undefined, pool: undefined, reorgs: each.pool.reorgs }
    })
    const upstreams = all.flatMap(({ name: listener, chain, interface: iface, pool }) =>
      pool.upstreams.map(({ name, tier, state, since, why, lagBlocks, urls, methodLimits }) => {
        const rest = { since, why, lagBlocks, tip: pool.tip, urls, methodLimits }
        const attempts = counts[`${listener} ${name} attempts`] ?? {}
        const lastMinute = {
          attempts: totalOf(attempts),
          failed: totalOf(failuresOf(attempts)),
          overtaken: attempts['first overtaken'] ?? 0,
        }
        return { chain, interface: iface, name, tier, state, ...rest, lastMinute }
      }),
    )
    const at = timeOf(this.#clock.wallMs())
    const own = { stores: [...this.stores.values()], shortages: this.resources.shortages }
    const shown = { ...own, clients: this.clients.top() }
    return JSON.stringify({ at, config: this.#config.facts, listeners, upstreams, ...shown })
  }

  get #shortageLines(): readonly string[] {
    return this.resources.shortages.map(({ why, since }) => `the router has ${why}; since ${since}`)
  }

  get #storeLines(): readonly string[] {
    return [...this.stores.values()].map(({ name, why, since }) =>
      clean(`store ${name} fails since ${since}: ${why}`),
    )
  }

  get #configLine(): string {
    const { sha256, since, refused } = this.#config.facts
    const serves = `config ${sha256} since ${since}`
    return refused ? `${serves}; refused at ${refused.at}: ${refused.why}` : serves
  }

  /**
   * The start is complete once an upstream of every listener has answered. A listener without an
   * answer delays the others only for the grace time; then the router counts as started for good.
   * Without upstreams it still answers clients with an error, and other replicas could do no
   * better.
   */
  get #isStarted(): boolean {
    const answered = this.#listeners.filter(({ isAnswered }) => isAnswered).length
    const isGraceOver = this.#clock.nowMs() >= this.#graceEndsMs
    return answered > 0 && (answered === this.#listeners.length || isGraceOver)
  }
}

type Seen = ReturnType<Health['look']>[number]

/** @returns `ETH1 jsonrpc: 2 of 3 upstreams serving; node-c disabled` */
function lineOf({ name, pool, total, darkSince, isOnBackup }: Seen, isVerbose: boolean): string {
  const serving = pool.upstreams.filter(takesCalls).length
  const others = pool.upstreams
    .filter(({ state, isDayUsed, why }) => {
      return state !== 'eligible' || isDayUsed || (isVerbose && why !== null)
    })
    .map((each) => `; ${each.name} ${isVerbose ? stateText(each) : each.state}`)
  if (isVerbose && isOnBackup) others.push('; no primary serves, the backup tier does')
  if (isVerbose && pool.reorgs) others.push(`; ${pool.reorgs}`)
  const dark = isVerbose && darkSince !== null ? `dark since ${darkSince}` : 'dark'
  const count = `${serving} of ${counted(total, 'upstream')} serving`
  return clean(`${name}: ${serving === 0 ? `${dark}, ` : ''}${count}${others.join('')}`)
}

/** @returns `node-a: http-unauthorized (HTTP 401); node-b: disabled`; null without upstreams */
function whyOf(others: PoolSnapshot['upstreams']): string | null {
  const reasons = others
    .slice(0, most.upstreams)
    .map(({ name, state, why }) => `${name}: ${(why ?? state).slice(0, most.characters)}`)
  const left = others.length - reasons.length
  return clean([...reasons, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')) || null
}
