// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, sleep } from '../clock/clock.ts'
import { maxAheadBlocks, type Pool } from '../upstream/pool.ts'
import { isServing } from '../upstream/observer.ts'
import type { TransportError } from '../upstream/wire.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { isExcluded, isPermitted, reaches, type Wanted } from '../upstream/wanted.ts'
import type { AttemptRecord, Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import { belowFloor } from './answer-validator.ts'

/** How long a call waits for a first verification if no upstream can serve it. */
const maxVerificationMs = 1_000
/** Delay before an upstream is retried, since a restarting node refuses connections at once. */
export const firstBackoffMs = 50
/** The delay doubles with each further attempt, up to this. */
export const maxBackoffMs = 400
/** Attempts per call at an upstream that refuses connections. */
const maxRefusals = 2

/** Waits for first verifications until `isReady`, up to a second after the call began. */
export async function whenServing(
  { journal, signal }: Call,
  clock: Clock,
  isReady: () => boolean,
): Promise<void> {
  const untilMs = journal.startedMs + maxVerificationMs
  while (!isReady() && clock.nowMs() < untilMs && !signal.aborted)
    await sleep(clock, firstBackoffMs)
}

/** Whether a call that no upstream can serve yet still waits for first verifications. */
export function awaitsVerification(
  { startedMs, deadlineMs, attempts }: Call['journal'],
  pool: Pool,
  needs: Needs,
  nowMs: number,
): boolean {
  const untilMs = Math.min(startedMs + maxVerificationMs, deadlineMs)
  return attempts.length === 0 && nowMs < untilMs && pool.isVerifying(needs)
}

/** Add-ons and extensions that an upstream must declare to serve the call. */
export function addonsOf({ method, directives }: Call): readonly string[] {
  const addons = method.addon === null ? [] : [method.addon]
  return directives.extension === null ? addons : [...addons, directives.extension]
}

/** The block that an upstream must have; null if any upstream may answer. */
export function floorOf({ method, directives: { minBlock } }: Call): number | null {
  const { kind, block, floor } = method
  // A write goes to every upstream.
  if (kind === 'write') return null
  // Pending blocks are above a node's head.
  const own = block.kind === 'tag' && block.tag === 'pending' ? undefined : floor?.block
  return own === undefined ? minBlock : Math.max(own, minBlock ?? 0)
}

/** Requirements on the next upstream. All attempts of a call share one instance. */
export class Needs implements Wanted {
  readonly addons: readonly string[]
  readonly method: string
  readonly block: Wanted['block']
  readonly data: NonNullable<Wanted['data']> | null
  readonly byHash: boolean
  readonly prefer: string | null
  readonly only: readonly string[] | null
  readonly isOneOfMany: boolean
  readonly isPaced = true
  readonly floor: number | null
  untriedOnly = false
  /** The call waits for the block of its floor, so upstreams that lacked it are retried. */
  isWaiting = false
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
    this.addons = addonsOf(call)
    this.method = call.method.name
    this.block = call.method.block
    this.data = call.method.data ?? null
    this.byHash = call.method.byHash
    this.prefer = call.directives.selectProvider
    this.only = call.directives.only
    this.floor = floorOf(call)
    this.isOneOfMany = call.journal.isOneOfMany
  }

  get excluded(): readonly string[] {
    const { directives, journal } = this.#call
    const { attempts } = journal
    if (attempts.length === 0) return directives.blockProviders
    const spent = attempts
      .filter((each) => isSpent(each, attempts, this))
      .map(({ upstream }) => upstream)
    return [...directives.blockProviders, ...spent]
  }

  get unconfirmed(): string | null {
    return this.#call.journal.unconfirmed
  }

  tried(upstream: string): boolean {
    return this.#call.journal.tried(upstream)
  }
}

/**
 * Whether a repeated attempt would give the same result. An upstream with a running attempt is
 * excluded from retries but stays in the ranking of hedges, which prevents hedges to lagging ones.
 */
function isSpent(
  { upstream, result }: AttemptRecord,
  attempts: readonly AttemptRecord[],
  { untriedOnly, isWaiting }: Pick<Needs, 'untriedOnly' | 'isWaiting'>,
): boolean {
  const own = attempts.filter((each) => each.upstream === upstream)
  if (own.some(({ endedMs }) => endedMs === null)) return !untriedOnly
  const refusals = own.filter(({ isUnsent, kind }) => isUnsent && kind !== 'failover')
  if (refusals.length >= maxRefusals) return true
  // Failures of weight 0 are not the upstream's fault and would repeat.
  if (typeof result === 'object')
    return result?.weight === 0 && !result.busy && !(isWaiting && result.retry)
  return result === 'answer' || result === 'node-error'
}

/** Error message for a call that no upstream can serve. */
function whyNone(pool: Pool, wanted: Needs): string {
  const { addons } = wanted
  const declared = namesOf(addons)
  const isFor = ({ urls }: Upstream) => !declared || urls.some((url) => url.isFor(addons))
  const declaring = pool.upstreams.filter(isFor)
  if (declared && declaring.length === 0)
    return `no upstream that is up declares the add-on ${declared}, which this call needs`
  const states = declaring.map((each) => {
    if (!isPermitted(each, wanted.method)) return `${each.name}: method-denied`
    if (wanted.tried(each.name)) return `${each.name}: tried`
    if (isExcluded(each, wanted)) return `${each.name}: excluded`
    // Another URL of the upstream may be up but lack the add-on.
    const isInCooldown = declared && !each.serves(addons)
    return `${each.name}: ${isInCooldown ? 'cooldown' : stateOf(pool, each, wanted)}`
  })
  return `no upstream${declared && ` with ${declared}`} can serve this call now (${states.join(', ')})`
}

/** The error if no upstream of the config declares the add-ons, whatever its state. */
function undeclared({ upstreams }: Pool, { addons, method }: Needs): RelayError | null {
  const declares = ({ urls }: Upstream) => urls.some((url) => url.declares(addons))
  if (upstreams.length === 0 || upstreams.some(declares)) return null
  const message = `${method.slice(0, 100)} needs the add-on ${namesOf(addons)}, which no upstream declares: add it to \`addons\` of a URL whose node serves it`
  return new RelayError(errorKinds.addonNotDeclared, message)
}

/** Clients choose the extension, so its length is bounded here. */
function namesOf(addons: readonly string[]): string {
  return addons.map((addon) => `\`${addon.slice(0, 64)}\``).join(' and ')
}

/** Whether the config and the client let the upstream serve the call, whatever its state. */
function mayEverServe({ name, urls }: Upstream, { addons, excluded }: Needs): boolean {
  return urls.some((url) => url.declares(addons)) && !excluded.includes(name)
}

function stateOf(pool: Pool, upstream: Upstream, wanted: Needs): string {
  const { state } = upstream
  const { isOneOfMany } = wanted
  if (pool.pick.isAtLimit(upstream, wanted)) return `limit-reached (${limitsOf(upstream)})`
  if (!isServing(state) || !pool.pick.isFull(upstream, isOneOfMany)) return state
  const { maxSessions } = pool.pick
  if (maxSessions === 1) return 'its only session is taken'
  if (!pool.pick.isFull(upstream))
    return 'the sessions that connections with many calls may have are taken'
  return `all ${maxSessions.toLocaleString('en-US')} sessions are taken`
}

/** `per-day 20`; with several URLs `per-day 20 at https://a.example, per-second 5 at ...`. */
function limitsOf({ urls }: Upstream): string {
  const bound = urls.flatMap(({ limit, cooldown, printable }) => {
    const binding = cooldown.active ? null : (limit?.binding ?? null)
    return binding === null ? [] : [urls.length > 1 ? `${binding} at ${printable}` : binding]
  })
  return bound.join(', ')
}

/** The error if no upstream was available, or every attempt failed without a fallback reply. */
export function noReply(
  cause: TransportError | null,
  { method, journal: { attempts } }: Call,
  pool: Pool,
  needs: Needs,
): RelayError {
  const floor = needs.floor ?? method.floor?.block ?? 0
  const isBelow = attempts.every(({ detail }) => detail === belowFloor)
  if (isBelow && (attempts.length > 0 || !pool.upstreams.some((each) => reaches(each, floor)))) {
    const heads = pool.upstreams
      .filter((each) => !isExcluded(each, needs))
      .map(({ name, latest }) => `${name}: ${latest?.block ?? 'unknown'}`)
    const message = `no upstream answers at block ${floor} or above yet, which the call requires (${heads.join(', ')})`
    return new RelayError(errorKinds.minBlock, message, {
      isCallersFault: pool.tip !== null && floor > pool.tip + maxAheadBlocks,
    })
  }
  if (attempts.length === 0)
    return (
      undeclared(pool, needs) ??
      rateLimited(pool, needs) ??
      new RelayError(errorKinds.noUpstream, whyNone(pool, needs), {
        isCallersFault: !pool.upstreams.some((each) => mayEverServe(each, needs)),
      })
    )
  const results = attempts.map(({ upstream, result }) =>
    typeof result === 'object' && result ? `${upstream}: ${result.name}` : upstream,
  )
  const made = `(${results.join(', ')})`
  // A malformed envelope says nothing about the content.
  if (attempts.some(({ violation }) => violation !== null && violation.check !== 'envelope'))
    return new RelayError(errorKinds.integrity, `no valid answer ${made}`, { cause })
  if (cause?.fault === 'exhausted')
    return new RelayError(
      errorKinds.overloaded,
      `the router has no resources left: ${cause.message}`,
      {
        cause,
        retryAfterMs: 1_000,
      },
    )
  if (cause?.fault === 'unsendable')
    return new RelayError(errorKinds.unsendable, 'the request cannot be sent to a node', { cause })
  if (cause?.fault !== 'timeout')
    return new RelayError(errorKinds.upstreamFailed, `no upstream answered ${made}`, { cause })
  const fate = method.kind === 'write' ? '; a node may have accepted the transaction' : ''
  return new RelayError(errorKinds.timeout, `no upstream answered ${made}${fate}`, { cause })
}

/** The error if all usable upstreams are in cooldown, verified or not, or at their limits. */
export function rateLimited(
  pool: Pool,
  needs: Needs,
  next = pool.nextInCooldown(needs) ?? pool.nextToVerify(needs),
): RelayError | null {
  const inCooldown = next?.url.cooldown.active ? next : null
  const atLimit = pool.pick.nextAtLimit(needs)
  const cooldownMs = inCooldown?.url.cooldown.leftMs ?? Infinity
  if (!inCooldown && !atLimit) return null
  const limitMs = atLimit?.url.waitMs ?? Infinity
  const waitMs = Math.min(cooldownMs, limitMs)
  const retryAfterMs = waitMs === Infinity ? firstBackoffMs : waitMs
  const first =
    inCooldown && cooldownMs <= limitMs
      ? `the cooldown of ${inCooldown.upstream.name} (${inCooldown.url.cooldown.last.cause}) ends first`
      : `${atLimit?.upstream.name} is the first below its limit again`
  const message = `${whyNone(pool, needs)}; ${first}`
  return new RelayError(errorKinds.rateLimited, message, { retryAfterMs })
}
