// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ApiInterface } from '../config/types.ts'
import { isServing } from '../upstream/observer.ts'
import type { PoolSnapshot } from '../upstream/observer.ts'

/** What is known of one chain and interface at one instant. */
export interface ListenerHealth {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  /** One of its upstreams was seen serving since the start. */
  readonly answered: boolean
  readonly pool: PoolSnapshot
}

/** What the rules decide from. */
interface HealthState {
  readonly draining: boolean
  /** The time that a dark listener may hold up the others is over. */
  readonly graceOver: boolean
  readonly listeners: readonly ListenerHealth[]
}

/** An answer of a health path: HTTP status and plain text. */
export interface HealthAnswer {
  readonly status: 200 | 503
  readonly body: string
}

/**
 * The start is done once an upstream of every listener answered; a listener that stays dark holds
 * up the others for the grace time only. From then on the router stays started: without upstreams
 * it still gives its clients an answer that says so, which no other replica could better.
 */
function isStarted({ listeners, graceOver }: HealthState): boolean {
  const answered = listeners.filter((listener) => listener.answered).length
  return answered > 0 && (answered === listeners.length || graceOver)
}

/** `/readyz`: whether to send clients here; the lines after the first are for people. */
export function readiness(state: HealthState): HealthAnswer {
  const { listeners, draining } = state
  const waiting = listeners.filter(({ answered }) => !answered).length
  const why = draining
    ? 'draining'
    : `no upstream answered yet on ${waiting} of ${listeners.length} listeners`
  const isReady = !draining && isStarted(state)
  const lines = [isReady ? 'ready' : `not ready: ${why}`, ...listeners.map(lineOf), '']
  return { status: isReady ? 200 : 503, body: lines.join('\n') }
}

/** `/metrics/overall-health`: started, not draining, and at least one upstream is serving now. */
export function overallHealth(state: HealthState): HealthAnswer {
  const isServed = state.listeners.some(({ pool }) => servingIn(pool) > 0)
  return isStarted(state) && !state.draining && isServed
    ? { status: 200, body: 'Health status OK' }
    : { status: 503, body: 'Unhealthy' }
}

/** Follows the listeners from start to stop and applies the rules when asked. */
export interface Health {
  /** Once for each listener, before the first question. */
  register(chainId: string, apiInterface: ApiInterface, snapshot: () => PoolSnapshot): void
  /** The router was told to stop; there is no way back. */
  drain(): void
  readiness(): HealthAnswer
  overall(): HealthAnswer
}

interface HealthOptions {
  readonly clock: Clock
  /** How long listeners without any upstream hold up readiness, from now on. */
  readonly graceMs?: number
}

/** Time starts when it is made. */
export function createHealth({ clock, graceMs = 30_000 }: HealthOptions): Health {
  const graceEndsMs = clock.nowMs() + graceMs
  const listeners: (() => ListenerHealth)[] = []
  let draining = false
  const look = (): HealthState => ({
    draining,
    graceOver: clock.nowMs() >= graceEndsMs,
    listeners: listeners.map((listener) => listener()),
  })
  return {
    register(chainId, apiInterface, snapshot) {
      // Stays true: what was once well is no start-up trouble any more.
      let answered = false
      listeners.push(() => {
        const pool = snapshot()
        answered ||= servingIn(pool) > 0
        return { chainId, apiInterface, answered, pool }
      })
    },
    drain() {
      draining = true
    },
    readiness: () => readiness(look()),
    overall: () => overallHealth(look()),
  }
}

/** `ETH1 jsonrpc: 2 of 3 upstreams serving; node-c disabled`. */
function lineOf({ chainId, apiInterface, pool }: ListenerHealth): string {
  const serving = servingIn(pool)
  const others = pool.upstreams
    .filter(({ state }) => state !== 'eligible')
    .map(({ name, state }) => `; ${name} ${state}`)
  const count = `${serving} of ${pool.upstreams.length} upstreams serving`
  return `${chainId} ${apiInterface}: ${serving === 0 ? 'dark, ' : ''}${count}${others.join('')}`
}

function servingIn(pool: PoolSnapshot): number {
  return pool.upstreams.filter(({ state }) => isServing(state)).length
}
