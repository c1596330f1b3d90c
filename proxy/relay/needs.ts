// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pool } from '../upstream/pool.ts'
import { isServing } from '../upstream/observer.ts'
import type { TransportError } from '../upstream/wire.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Wanted } from '../upstream/pick.ts'
import type { AttemptRecord, Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'

/** How often one that refuses connections is asked by one call. */
const mostRefusals = 2

/** Add-ons and extensions that an upstream must declare to serve the call. */
export function addonsOf({ asked, directives }: Call): readonly string[] {
  const addons = asked.addon === null ? [] : [asked.addon]
  return directives.extension === null ? addons : [...addons, directives.extension]
}

/** What the next attempt of a call needs of an upstream. One for all attempts of the call. */
export class Needs implements Wanted {
  readonly addons: readonly string[]
  readonly block: Wanted['block']
  readonly byHash: boolean
  readonly prefer: string | null
  untriedOnly = false
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
    this.addons = addonsOf(call)
    this.block = call.asked.block
    this.byHash = call.asked.byHash
    this.prefer = call.directives.selectProvider
  }

  get excluded(): readonly string[] {
    const { directives, journal } = this.#call
    const { attempts } = journal
    if (attempts.length === 0) return directives.blockProviders
    const spent = attempts
      .filter((each) => isSpent(each, attempts, this.untriedOnly))
      .map(({ upstream }) => upstream)
    return [...directives.blockProviders, ...spent]
  }

  tried(upstream: string): boolean {
    return this.#call.journal.tried(upstream)
  }
}

/**
 * Asked once more, its upstream would say the same, or be later still. One that is being asked is none
 * for a retry; that it lags less than others still keeps those from being a hedge.
 */
function isSpent(
  { upstream, result }: AttemptRecord,
  attempts: readonly AttemptRecord[],
  isHedge: boolean,
): boolean {
  const own = attempts.filter((each) => each.upstream === upstream)
  if (own.some(({ endedMs }) => endedMs === null)) return !isHedge
  const refusals = own.filter(({ isUnsent, kind }) => isUnsent && kind !== 'failover')
  if (refusals.length >= mostRefusals) return true
  // It answered, and not well enough; or it failed without being to blame.
  if (typeof result === 'object') return result?.weight === 0
  return result === 'answer' || result === 'node-error'
}

/** Why no upstream can be asked, for a person who reads it in the answer. */
function whyNone(pool: Pool, { addons, excluded }: Wanted): string {
  // An extension is a client's word, and may be of any length.
  const declared = addons.map((addon) => `\`${addon.slice(0, 64)}\``).join(' and ')
  const declaring = pool.upstreams.filter((each) => !declared || each.serves(addons))
  if (declared && declaring.length === 0)
    return `no upstream that is up declares the add-on ${declared}, which this call needs`
  const states = declaring.map((each) => {
    const state = excluded.includes(each.name) ? 'excluded' : stateOf(pool, each)
    return `${each.name}: ${state}`
  })
  return `no upstream can serve this call now (${states.join(', ')})`
}

function stateOf(pool: Pool, upstream: Upstream): string {
  const state = pool.stateOf(upstream)
  if (!isServing(state) || !pool.pick.isFull(upstream)) return state
  const { maxSessions } = pool.pick
  if (maxSessions === 1) return 'its only session is taken'
  return `all ${maxSessions.toLocaleString('en-US')} sessions are taken`
}

/** No upstream may be asked and none was; or every attempt failed, and none gave anything to pass on. */
export function noReply(
  cause: TransportError | null,
  { journal: { attempts } }: Call,
  pool: Pool,
  needs: Needs,
): RelayError {
  if (attempts.length === 0)
    return rateLimited(pool, needs) ?? new RelayError(errorKinds.noUpstream, whyNone(pool, needs))
  const story = attempts.map(({ upstream, result }) =>
    typeof result === 'object' && result ? `${upstream}: ${result.name}` : upstream,
  )
  const made = `(${story.join(', ')})`
  // An answer that is broken says nothing: only one that reads well can be untrue.
  if (attempts.some(({ violation }) => violation !== null && violation.check !== 'envelope'))
    return new RelayError(errorKinds.integrity, `no upstream gave a true answer ${made}`, { cause })
  if (cause?.fault === 'unsendable')
    return new RelayError(errorKinds.unsendable, 'the request cannot be put to a node', { cause })
  const kind = cause?.fault === 'timeout' ? errorKinds.timeout : errorKinds.upstreamFailed
  return new RelayError(kind, `no upstream answered ${made}`, { cause })
}

/** Every upstream that could serve the call is in cooldown; null where that is not why. */
export function rateLimited(pool: Pool, needs: Needs): RelayError | null {
  const next = pool.nextInCooldown(needs)
  if (next === null) return null
  const retryAfterMs = next.url.cooldown.leftMs
  const message = `every upstream is in cooldown after a limit; ${next.upstream.name} is the first to be asked again`
  return new RelayError(errorKinds.rateLimited, message, { retryAfterMs })
}
