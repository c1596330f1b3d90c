// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ConfigState } from './config-state.ts'
import { isServing, type PoolSnapshot, type UpstreamState } from '../upstream/observer.ts'

/** How long listeners without any upstream hold up readiness. */
const graceMs = 30_000

/** An answer of a health path: HTTP status and plain text. */
export interface HealthAnswer {
  readonly status: 200 | 503
  readonly body: string
}

interface Listener {
  /** `ETH1 jsonrpc` */
  readonly name: string
  readonly snapshot: () => PoolSnapshot
  /** By upstream: the state that the last look found, and the first look that found it. */
  readonly states: Map<string, { readonly state: UpstreamState; readonly sinceMs: number }>
  /** One of its upstreams was seen serving since the start. */
  isAnswered: boolean
}

/** Follows the listeners from start to stop, and says whether the router is ready and healthy. */
export class Health {
  readonly #clock: Clock
  readonly #config: Pick<ConfigState, 'sha256' | 'sinceMs' | 'refusal'>
  readonly #graceEndsMs: number
  readonly #listeners: Listener[] = []
  #isDraining = false

  constructor(clock: Clock, config: Pick<ConfigState, 'sha256' | 'sinceMs' | 'refusal'>) {
    this.#clock = clock
    this.#config = config
    this.#graceEndsMs = clock.nowMs() + graceMs
  }

  /** Once for each listener, before the first question. */
  register(name: string, snapshot: () => PoolSnapshot): void {
    this.#listeners.push({ name, snapshot, states: new Map(), isAnswered: false })
  }

  /** The router is stopping; there is no way back. */
  drain(): void {
    this.#isDraining = true
  }

  /** `/readyz`: whether to send clients here; the lines after the first are for humans. `?verbose`: and the config. */
  readiness(isVerbose = false): HealthAnswer {
    const lines = this.#listeners.map((listener) => lineOf(listener.name, this.#look(listener)))
    const waiting = this.#listeners.filter(({ isAnswered }) => !isAnswered).length
    const why = this.#isDraining
      ? 'draining'
      : `no upstream answered yet on ${waiting} of ${lines.length} listeners`
    const isReady = !this.#isDraining && this.#isStarted
    const body = [
      isReady ? 'ready' : `not ready: ${why}`,
      ...lines,
      ...(isVerbose ? [this.#configLine] : []),
      '',
    ].join('\n')
    return { status: isReady ? 200 : 503, body }
  }

  /** `/metrics/overall-health`: started, not draining, and at least one upstream is serving now. */
  overall(): HealthAnswer {
    const isServed = this.#listeners.map((each) => servingIn(this.#look(each))).some(Boolean)
    return this.#isStarted && !this.#isDraining && isServed
      ? { status: 200, body: 'Health status OK' }
      : { status: 503, body: 'Unhealthy' }
  }

  /**
   * `/status`, as JSON: the config that serves, and each upstream as this process sees it, for programs. A state counts
   * from the first look at any of these paths that found it.
   */
  status(): string {
    const upstreams = this.#listeners.flatMap((listener) => {
      const [chain, iface] = listener.name.split(' ')
      const { tip, upstreams } = this.#look(listener)
      return upstreams.map(({ name, tier, state, lagBlocks }) => {
        const since = timeOf(listener.states.get(name)?.sinceMs ?? 0)
        return { chain, interface: iface, name, tier, state, since, lagBlocks, tip }
      })
    })
    const { sha256, sinceMs, refusal } = this.#config
    const refused = refusal && { why: refusal.why, at: timeOf(refusal.atMs) }
    return JSON.stringify({ config: { sha256, since: timeOf(sinceMs), refused }, upstreams })
  }

  get #configLine(): string {
    const { sha256, sinceMs, refusal } = this.#config
    const serves = `config ${sha256} since ${timeOf(sinceMs)}`
    return refusal ? `${serves}; refused at ${timeOf(refusal.atMs)}: ${refusal.why}` : serves
  }

  /** Notes what has changed since the last look. */
  #look(listener: Listener): PoolSnapshot {
    const pool = listener.snapshot()
    for (const { name, state } of pool.upstreams)
      if (listener.states.get(name)?.state !== state)
        listener.states.set(name, { state, sinceMs: this.#clock.wallMs() })
    const names = new Set(pool.upstreams.map(({ name }) => name))
    for (const name of listener.states.keys()) if (!names.has(name)) listener.states.delete(name)
    listener.isAnswered ||= servingIn(pool) > 0
    return pool
  }

  /**
   * The start is done once an upstream of every listener answered. A listener without an answer
   * delays the others for the grace time only. From then on the router stays started: without
   * upstreams it still answers its clients that it has none, and other replicas could do no more.
   */
  get #isStarted(): boolean {
    const answered = this.#listeners.filter(({ isAnswered }) => isAnswered).length
    const isGraceOver = this.#clock.nowMs() >= this.#graceEndsMs
    return answered > 0 && (answered === this.#listeners.length || isGraceOver)
  }
}

/** @returns `ETH1 jsonrpc: 2 of 3 upstreams serving; node-c disabled` */
function lineOf(listener: string, pool: PoolSnapshot): string {
  const serving = servingIn(pool)
  const others = pool.upstreams
    .filter(({ state }) => state !== 'eligible')
    .map(({ name, state }) => `; ${name} ${state}`)
  const count = `${serving} of ${pool.upstreams.length} upstreams serving`
  return `${listener}: ${serving === 0 ? 'dark, ' : ''}${count}${others.join('')}`
}

function servingIn(pool: PoolSnapshot): number {
  return pool.upstreams.filter(({ state }) => isServing(state)).length
}

function timeOf(wallMs: number): string {
  return new Date(wallMs).toISOString()
}
