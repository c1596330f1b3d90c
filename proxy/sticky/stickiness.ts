// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { ApiInterface, Live, RelayConfig } from '../config/types.ts'
import { StoreError } from '../redis/store-error.ts'
import type { Call, SessionNote } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { addonsOf, Needs, noReply } from '../relay/needs.ts'
import type { Relay } from '../relay/relay.ts'
import { isTrouble, type Reply } from '../relay/reply.ts'
import type { Wanted } from '../upstream/pick.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Sessions } from './sessions.ts'

export interface StickinessOptions {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly pool: Pool
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly sessions: Sessions
}

/**
 * A relay that sends the calls of a session to one node, and fails them when that node cannot serve: the session then
 * has no node, and its next call chooses another.
 */
export function withStickiness(relay: Relay, options: StickinessOptions): Relay {
  return (call) => (isBound(call) ? relayInSession(relay, call, options) : relay(call))
}

/** `rpc-select-provider` wins; and a filter is asked of the node that keeps it. */
function isBound({ directives, asked }: Call): boolean {
  if (directives.stickiness === null || directives.selectProvider !== null) return false
  return asked.stateful === null || asked.stateful === 'creates'
}

async function relayInSession(
  relay: Relay,
  call: Call,
  options: StickinessOptions,
): Promise<Reply> {
  const { pool, config, sessions } = options
  const { strategy } = config.now
  const wanted = wantedOf(call, pool)
  const key = keyOf(call, wanted.addons, options)
  let chosen: string | null = null
  const story: Pick<SessionNote, 'considered'> = { considered: null }
  const choose = (avoid: string | null) => {
    const others = avoid === null ? wanted : excluding(wanted, avoid)
    const pick = (of: Wanted) => pool.pick.next(of, strategy, story)
    const next = pick(others) ?? pick(wanted)
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
  if (!pool.pick.suits(upstream, wanted))
    return failSession(sessions, key, session, 'it lags behind the chain')
  const { directives, shared, ...rest } = call
  let reply: Reply
  try {
    reply = await relay({
      ...rest,
      directives: { ...directives, only: [node] },
      // A request is shared only where the relay sends it before anything is waited for.
      ...(shared && !(found instanceof Promise) && { shared }),
    })
  } catch (error) {
    if (!isFault(error)) throw error
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

/** What the node failed with; not what the router refuses, nor a client that left. */
function isFault(error: unknown): error is RelayError {
  if (!(error instanceof RelayError)) return false
  const { noUpstream, rateLimited, breakerOpen, upstreamFailed, timeout, integrity } = errorKinds
  return [noUpstream, rateLimited, breakerOpen, upstreamFailed, timeout, integrity].includes(
    error.kind,
  )
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
  const { block, byHash } = call.asked
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

function excluding(wanted: Wanted, name: string): Wanted {
  return { ...wanted, excluded: [...wanted.excluded, name] }
}

/** A digest of the session's id (`Directives` has no more of it), its chain and interface, and its extensions. */
function keyOf(
  { directives }: Call,
  addons: readonly string[],
  { chainId, apiInterface }: StickinessOptions,
): string {
  const parts = [chainId, apiInterface, addons.join(','), directives.stickiness]
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
