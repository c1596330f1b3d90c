// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { type Clock, sleep } from '../clock/clock.ts'
import type { ApiInterface, Live, RelayConfig } from '../config/types.ts'
import { StoreError } from '../redis/store-error.ts'
import type { Call, SessionNote } from '../relay/call.ts'
import { RelayError, errorKinds, isUnanswered } from '../relay/errors.ts'
import { addonsOf, firstBackoffMs, maxVerificationMs, Needs, noReply } from '../relay/needs.ts'
import type { Relay } from '../relay/relay.ts'
import { isTrouble, type Reply } from '../relay/reply.ts'
import type { Wanted } from '../upstream/pick.ts'
import type { Pool } from '../upstream/pool.ts'
import type { NodeUrl } from '../upstream/upstream.ts'
import type { Sessions } from './sessions.ts'

export interface StickinessOptions {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly pool: Pool
  readonly clock: Clock
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly sessions: Sessions
}

/**
 * A relay that sends the calls of a session to one node, and fails them when that node cannot serve: the session then
 * has no node, and its next call chooses another. What shows nothing of the node, its caller's wish or that it is not
 * verified here yet, fails the call alone.
 */
export function withStickiness(relay: Relay, options: StickinessOptions): Relay {
  return (call) => (isBound(call) ? relayInSession(relay, call, options) : relay(call))
}

/** `rpc-select-provider` wins; and a filter is asked of the node that keeps it. */
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
  const wanted = wantedOf(call, pool)
  const key = sessionKey(call, wanted.addons, options)
  let chosen: string | null = null
  const story: Pick<SessionNote, 'considered'> = { considered: null }
  const choose = (avoid: string | null) => {
    const next = pool.pick.next({ ...wanted, tried: (name) => name === avoid }, strategy, story)
    return (chosen = next?.name ?? null)
  }
  const found = sessions.find(key, choose)
  let node: string | null
  try {
    // What memory has is used at once, so that the items of a batch leave together.
    node = found instanceof Promise ? await found : found
  } catch (cause) {
    throw storeError(cause)
  }
  if (node === null) throw noReply(null, call, pool, new Needs(call))
  const choice = node === chosen ? 'new' : 'known'
  const session: SessionNote = { node, choice, isDropped: false, ...story }
  call.journal.session = session
  const upstream = pool.upstreams.find(({ name }) => name === node)
  if (!upstream)
    return failSession(sessions, key, session, 'it is not in the config of this replica')
  const { directives, shared, ...rest } = call
  const { attempts, startedMs } = call.journal
  if (directives.blockProviders.includes(node)) throw keptNode(node, 'this request excludes it')
  const unverified = () => upstream.unverified(wanted.addons)
  const untilMs = startedMs + maxVerificationMs
  let isAtOnce = !(found instanceof Promise)
  while (unverified().length > 0 && clock.nowMs() < untilMs && !call.signal.aborted) {
    isAtOnce = false
    await sleep(clock, firstBackoffMs)
  }
  if (!pool.pick.suits(upstream, wanted))
    return failSession(sessions, key, session, 'it lags behind the chain')
  let reply: Reply
  try {
    reply = await relay({
      ...rest,
      directives: { ...directives, only: [node] },
      // A request is shared only where the relay sends it before anything is waited for.
      ...(shared && isAtOnce && { shared }),
    })
  } catch (error) {
    if (!isFault(error)) throw error
    const isHurried = error.kind === errorKinds.timeout && attempts.every((each) => each.isCutShort)
    // A probe may have shown that it hangs, however much time its calls have.
    if (isHurried && !upstream.availability.isOnTrial) throw error
    if (attempts.length === 0 && unverified().some(isUnknown))
      throw keptNode(node, 'this replica has not verified it yet')
    return failSession(sessions, key, session, error.message, error)
  }
  // The client gets what its node answered, whether or not the choice could be dropped.
  if (isTrouble(reply) || reply.refusal?.holdOff) {
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
      return `${node} stays its node, for ${error.message}`
    },
  )
  const message = `${node}, the node of this session, cannot serve it: ${why}; ${next}`
  throw new RelayError(errorKinds.sessionNode, message, { cause })
}

/** The choice stands: the node may serve others, and the other requests of the session. */
function keptNode(node: string, why: string): RelayError {
  const message = `${node}, the node of this session, cannot serve this request: ${why}; it stays the node of the session`
  return new RelayError(errorKinds.sessionNode, message)
}

/** Nothing speaks against it. */
function isUnknown({ isUnreached, cooldown }: NodeUrl): boolean {
  return !isUnreached && !cooldown.active
}

/** What the node failed with; not what the router refuses, nor a client that left. */
function isFault(error: unknown): error is RelayError {
  if (isUnanswered(error)) return true
  const { breakerOpen, integrity } = errorKinds
  return error instanceof RelayError && [breakerOpen, integrity].includes(error.kind)
}

function storeError(cause: unknown): unknown {
  if (!(cause instanceof StoreError)) return cause
  const message = `which node this session has is not known: ${cause.message}; requests without rpc-stickiness are served`
  return new RelayError(errorKinds.sessionStore, message, { cause, retryAfterMs: 1_000 })
}

/** It is reported by the client of the store. @throws any other error */
function ignoreStore(error: unknown): asserts error is StoreError {
  if (!(error instanceof StoreError)) throw error
}

/** What the session's node must have: archive too for an old block, so that archive calls have a node of their own. */
function wantedOf(call: Call, pool: Pool): Wanted {
  const { block, byHash } = call.method
  const addons = new Set(addonsOf(call))
  if (pool.pick.wantsArchive(block)) addons.add('archive')
  return {
    addons: [...addons].toSorted(),
    block,
    byHash,
    prefer: null,
    excluded: call.directives.blockProviders,
    tried: () => false,
    untriedOnly: false,
  }
}

/** A digest of the session's id (`Directives` has no more of it), its chain and interface, and its extensions. */
function sessionKey(
  { directives }: Call,
  addons: readonly string[],
  { chainId, apiInterface }: StickinessOptions,
): string {
  const parts = [chainId, apiInterface, addons.join(','), directives.stickiness]
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
