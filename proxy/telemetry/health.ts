// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ConfigState } from './config-state.ts'
import { isServing, type PoolSnapshot } from '../upstream/observer.ts'

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
  /** One of its upstreams was seen serving since the start. */
  isAnswered: boolean
}

/** Follows the listeners from start to stop, and says whether the router is ready and healthy. */
export class Health {
  readonly #clock: Clock
  readonly #config: Pick<ConfigState, 'line'>
  readonly #graceEndsMs: number
  readonly #listeners: Listener[] = []
  #isDraining = false

  constructor(clock: Clock, config: Pick<ConfigState, 'line'>) {
    this.#clock = clock
    this.#config = config
    this.#graceEndsMs = clock.nowMs() + graceMs
  }

  /** Once for each listener, before the first question. */
  register(name: string, snapshot: () => PoolSnapshot): void {
    this.#listeners.push({ name, snapshot, isAnswered: false })
  }

  /** The router is stopping; there is no way back. */
  drain(): void {
    this.#isDraining = true
  }

  /** `/readyz`: whether to send clients here; the lines after the first are for humans. `?verbose`: and the config. */
  readiness(isVerbose = false): HealthAnswer {
    const lines = this.#listeners.map(lookAt)
    const waiting = this.#listeners.filter(({ isAnswered }) => !isAnswered).length
    const why = this.#isDraining
      ? 'draining'
      : `no upstream answered yet on ${waiting} of ${lines.length} listeners`
    const isReady = !this.#isDraining && this.#isStarted
    const body = [
      isReady ? 'ready' : `not ready: ${why}`,
      ...lines,
      ...(isVerbose ? [this.#config.line] : []),
      '',
    ].join('\n')
    return { status: isReady ? 200 : 503, body }
  }

  /** `/metrics/overall-health`: started, not draining, and at least one upstream is serving now. */
  overall(): HealthAnswer {
    this.#listeners.forEach(lookAt)
    const isServed = this.#listeners.some(({ snapshot }) => servingIn(snapshot()) > 0)
    return this.#isStarted && !this.#isDraining && isServed
      ? { status: 200, body: 'Health status OK' }
      : { status: 503, body: 'Unhealthy' }
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
function lookAt(listener: Listener): string {
  const pool = listener.snapshot()
  const serving = servingIn(pool)
  listener.isAnswered ||= serving > 0
  const others = pool.upstreams
    .filter(({ state }) => state !== 'eligible')
    .map(({ name, state }) => `; ${name} ${state}`)
  const count = `${serving} of ${pool.upstreams.length} upstreams serving`
  return `${listener.name}: ${serving === 0 ? 'dark, ' : ''}${count}${others.join('')}`
}

function servingIn(pool: PoolSnapshot): number {
  return pool.upstreams.filter(({ state }) => isServing(state)).length
}
