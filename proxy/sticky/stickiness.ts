// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { Clock } from '../clock/clock.ts'
import type { ApiInterface, Live, RelayConfig } from '../config/types.ts'
import { StoreError } from '../store/store-error.ts'
import type { Call, SessionNote } from '../relay/call.ts'
import { RelayError, errorKinds, isUnanswered } from '../relay/errors.ts'
import { addonsOf, Needs, noReply, whenServing } from '../relay/needs.ts'
import type { Relay } from '../relay/relay.ts'
import { isTrouble, type Reply } from '../relay/reply.ts'
import { anyUpstream, isPermitted, type Wanted } from '../upstream/wanted.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Sessions } from './sessions.ts'
import type { NodeUrl } from '../upstream/node-url.ts'

export interface StickinessOptions {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly pool: Pool
  readonly clock: Clock
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly sessions: Sessions
}

/**
 * Wraps a relay to send the calls of a session to one node. If that node cannot serve a call, it
 * fails, and the session's next call chooses another. A failure that proves nothing about the node
 * (the caller's limits, no verification yet) affects only the call.
 */
export function withStickiness(relay: Relay, options: StickinessOptions): Relay {
  return (call) => (isBound(call) ? relayInSession(relay, call, options) : relay(call))
}

/** Whether the session applies: `rpc-select-provider` wins, and a filter goes to its own node. */
function isBound({ directives, method }: Call): boolean {
  if (directives.stickiness === null || directives.selectProvider !== null) return false
  return method.stateful === null || method.stateful === 'creates'
}

async function relayInSession(
  relay: Relay,
  call: Call,
  options: StickinessOptions,
): Promise<Reply> {
  const { pool, config, sessions, clock } = options
  const { strategy } = config.now
  const denying = denyingOf(call, pool)
  const criteria = criteriaOf(call, pool, denying)
  const key = sessionKey(call, criteria.addons, denying, options)
  let chosen: string | null = null
  const note: Pick<SessionNote, 'considered'> = { considered: null }
  const choose = (avoid: string | null) => {
    const next = pool.pick.next({ ...criteria, tried: (name) => name === avoid }, strategy, note)
    return (chosen = next?.name ?? null)
  }
  const found = sessions.find(key, choose)
  let node: string | null
  try {
    node = await found
  } catch (cause) {
    throw storeError(cause)
  }
  if (node === null) throw noReply(null, call, pool, new Needs(call))
  const choice = node === chosen ? 'new' : 'known'
  const session: SessionNote = { node, choice, isDropped: false, ...note }
  call.journal.session = session
  const upstream = pool.upstreams.find(({ name }) => name === node)
  if (!upstream)
    return failSession(sessions, key, session, 'it is not in the config of this replica')
  const { directives } = call
  const { attempts } = call.journal
  if (directives.blockProviders.includes(node)) throw unusableNode(node, 'this request excludes it')
  const unverified = () => upstream.unverified(criteria.addons)
  await whenServing(call, clock, () => unverified().length === 0)
  if (!pool.pick.suits(upstream, criteria))
    return failSession(sessions, key, session, 'it lags behind the chain')
  let reply: Reply
  try {
    reply = await relay({ ...call, directives: { ...directives, only: [node] } })
  } catch (error) {
    if (!isFault(error)) throw error
    const isHurried = error.kind === errorKinds.timeout && attempts.every((each) => each.isCutShort)
    // A probe may have shown that the node hangs, even if its calls had little time.
    if (isHurried && !upstream.availability.isOnTrial) throw error
    if (attempts.length === 0 && unverified().some(isUsable))
      throw unusableNode(node, 'this replica has not verified it yet')
    return failSession(sessions, key, session, error.message, error)
  }
  // The client gets the node's answer, even if dropping the choice fails.
  if (isTrouble(reply) || reply.refusal?.cooldown) {
    session.isDropped = true
    await sessions.drop(key, node).catch(ignoreStore)
  }
  return reply
}

/** @throws RelayError always */
async function failSession(
  sessions: Sessions,
  key: string,
  session: SessionNote,
  why: string,
  cause?: unknown,
): Promise<never> {
  const { node } = session
  session.isDropped = true
  const next = await sessions.drop(key, node).then(
    () => 'the next request of the session chooses another node',
    (error: unknown) => {
      ignoreStore(error)
      session.isDropped = false
      return `the session stays at ${node}: ${error.message}`
    },
  )
  const message = `${node}, the node of this session, cannot serve it: ${why}; ${next}`
  throw new RelayError(errorKinds.sessionNode, message, { cause })
}

/** An error that retains the choice, since the node may serve other requests of the session. */
function unusableNode(node: string, why: string): RelayError {
  const message = `${node}, the node of this session, cannot serve this request: ${why}; the session stays at this node`
  return new RelayError(errorKinds.sessionNode, message)
}

/** Whether the URL is neither unreachable nor in cooldown. */
function isUsable({ isUnreached, cooldown }: NodeUrl): boolean {
  return !isUnreached && !cooldown.active
}

/** Whether the node failed, as opposed to a refusal of the router or a client that left. */
function isFault(error: unknown): error is RelayError {
  if (isUnanswered(error)) return true
  const { breakerOpen, integrity } = errorKinds
  return error instanceof RelayError && [breakerOpen, integrity].includes(error.kind)
}

function storeError(cause: unknown): unknown {
  if (!(cause instanceof StoreError)) return cause
  const message = `the node of this session is unknown: ${cause.message}; requests without rpc-stickiness are served`
  return new RelayError(errorKinds.sessionStore, message, { cause, retryAfterMs: 1_000 })
}

/** The client of the store reports the error. @throws any other error */
function ignoreStore(error: unknown): asserts error is StoreError {
  if (!(error instanceof StoreError)) throw error
}

/** The session's node must have these. An old block adds `archive`, which has another node. */
function criteriaOf(call: Call, pool: Pool, denying: readonly string[]): Wanted {
  const { block, byHash } = call.method
  const addons = new Set(addonsOf(call))
  if (pool.pick.wantsArchive(block)) addons.add('archive')
  return {
    ...anyUpstream,
    addons: [...addons].toSorted(),
    ...{ block, byHash },
    excluded: [...call.directives.blockProviders, ...denying],
  }
}

/** Upstreams that deny the method, which another node of the session serves. */
function denyingOf({ method }: Call, { upstreams }: Pool): readonly string[] {
  const denying = upstreams.filter((each) => !isPermitted(each, method.name))
  return denying.map(({ name }) => name).toSorted()
}

/** A digest of the session's id (hashed before), its chain and interface, and its node's needs. */
function sessionKey(
  { directives }: Call,
  addons: readonly string[],
  denying: readonly string[],
  { chainId, apiInterface }: StickinessOptions,
): string {
  const parts = [chainId, apiInterface, addons.join(','), directives.stickiness, ...denying]
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
