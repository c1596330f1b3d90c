// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ApiInterface } from '../config/types.ts'
import { isServing } from '../upstream/snapshot.ts'
import type { PoolSnapshot } from '../upstream/snapshot.ts'

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
function isStarted(state: HealthState): boolean {
  const answered = state.listeners.filter((listener) => listener.answered).length
  return answered > 0 && (answered === state.listeners.length || state.graceOver)
}

/** `/readyz`: whether to send clients here; the lines after the first are for people. */
export function readiness(state: HealthState): HealthAnswer {
  const lines = state.listeners.map(lineOf)
  if (state.draining) return answer(503, 'not ready: draining', lines)
  if (isStarted(state)) return answer(200, 'ready', lines)
  const waiting = state.listeners.filter((listener) => !listener.answered).length
  const why = `no upstream answered yet on ${waiting} of ${state.listeners.length} listeners`
  return answer(503, `not ready: ${why}`, lines)
}

/** `/metrics/overall-health`: started, not draining, and at least one upstream is serving now. */
export function overallHealth(state: HealthState): HealthAnswer {
  const serving = state.listeners.some((listener) => servingOf(listener) > 0)
  return isStarted(state) && !state.draining && serving
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

const defaultGraceMs = 30_000

/** Time starts when it is made. */
export function createHealth({ clock, graceMs = defaultGraceMs }: HealthOptions): Health {
  const graceEndsMs = clock.nowMs() + graceMs
  const listeners: Registered[] = []
  let draining = false
  const look = (): HealthState => ({
    draining,
    graceOver: clock.nowMs() >= graceEndsMs,
    listeners: listeners.map((listener) => {
      const pool = listener.snapshot()
      listener.answered ||= servingIn(pool) > 0
      const { chainId, apiInterface, answered } = listener
      return { chainId, apiInterface, answered, pool }
    }),
  })
  return {
    register(chainId, apiInterface, snapshot) {
      listeners.push({ chainId, apiInterface, snapshot, answered: false })
    },
    drain() {
      draining = true
    },
    readiness: () => readiness(look()),
    overall: () => overallHealth(look()),
  }
}

interface Registered {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly snapshot: () => PoolSnapshot
  /** Stays true: what was once well is no start-up trouble any more. */
  answered: boolean
}

function answer(status: 200 | 503, first: string, lines: readonly string[]): HealthAnswer {
  return { status, body: [first, ...lines, ''].join('\n') }
}

/** `ETH1 jsonrpc: 2 of 3 upstreams serving; node-c disabled`. */
function lineOf(listener: ListenerHealth): string {
  const { chainId, apiInterface, pool } = listener
  const serving = servingOf(listener)
  const count = `${serving} of ${pool.upstreams.length} upstreams serving`
  const others = pool.upstreams
    .filter((upstream) => upstream.state !== 'eligible')
    .map((upstream) => `; ${upstream.name} ${upstream.state}`)
  return `${chainId} ${apiInterface}: ${serving === 0 ? 'dark, ' : ''}${count}${others.join('')}`
}

function servingOf(listener: ListenerHealth): number {
  return servingIn(listener.pool)
}

function servingIn(pool: PoolSnapshot): number {
  return pool.upstreams.filter((upstream) => isServing(upstream.state)).length
}
