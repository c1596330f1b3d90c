// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Confirmation } from '../chain/check-rule.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { applyProbe, isTrouble, probe, type ProbeAnswer } from '../upstream/probe.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Call } from './call.ts'
import { CallAborted } from './errors.ts'
import { sentHash } from './integrity/sent-hash.ts'
import type { RelayObserver } from './observer.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

/** Of those that say that they know it; the one that said so first is seldom wrong. */
const mostAsked = 3

export interface KnownTransactionOptions {
  readonly chain: Chain
  readonly dialect: Dialect
  readonly pool: Pool
  readonly clock: Clock
  readonly observer: RelayObserver
}

/**
 * Gives a client that sends a transaction again its hash: when the best that the nodes say is that
 * it is known, or that its nonce is used, as it is once the transaction itself is in a block, they are
 * asked for it. When none of them finds it they meant something else, and
 * their own words go to the client: those of one that says what is wrong with it, if there is one, for
 * clients take it for a success that a transaction is known.
 */
export function knownTransaction(options: KnownTransactionOptions): Step {
  return (next) => async (call) => {
    const reply = await next(call)
    if (!mayBeThere(reply)) return reply
    // Nothing that says so is that long, and a stream would have to be let go.
    if (!(reply.incoming.body instanceof Uint8Array)) return reply
    const sent = sentIn(call)
    // It cannot be named, so nobody can be asked.
    if (!sent) return reply
    if (!(await isConfirmed(options, call, reply, sent))) {
      const mayWait = sent.confirm.every(({ isPartial }) => isPartial)
      return mayWait ? reply : (reply.objection ?? reply)
    }
    const incoming = {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: call.reader.write(filled(sent.answer, sent.hash)),
      trailers: () => [],
    }
    return { ...reply, incoming, refusal: null }
  }
}

function mayBeThere({ refusal }: Reply): boolean {
  return refusal?.transaction === 'known' || refusal?.transaction === 'used'
}

/** Asks the node that has the word, then others that were sent the transaction. */
async function isConfirmed(
  options: KnownTransactionOptions,
  call: Call,
  { upstream: first }: Reply,
  sent: Sent,
): Promise<boolean> {
  const { pool, clock } = options
  const { attempts, deadlineMs } = call.journal
  const names = new Set([first, ...attempts.map(({ upstream }) => upstream)])
  const upstreams = [...names].flatMap((name) =>
    pool.upstreams.filter((each) => each.name === name),
  )
  for (const upstream of upstreams.filter((each) => each.serves([])).slice(0, mostAsked)) {
    for (const way of sent.confirm) {
      if (call.signal.aborted) throw new CallAborted()
      if (clock.nowMs() >= deadlineMs) return false
      const outcome = await confirm(options, call, upstream, way, sent.hash)
      if (outcome === 'shown') return true
      if (outcome === 'trouble') break
    }
  }
  return false
}

/** `trouble`: it gave no answer, so nothing more is asked of it. */
async function confirm(
  options: KnownTransactionOptions,
  call: Call,
  upstream: Upstream,
  way: Confirmation,
  hash: string,
): Promise<'shown' | 'not shown' | 'trouble'> {
  const { chain, clock, observer } = options
  const [url] = upstream.urlsFor([])
  if (!url) return 'trouble'
  const record = call.journal.begin(upstream.name, 'confirm', clock.nowMs())
  upstream.sessions += 1
  try {
    const answer = await askFor(call, url, way, hash, options)
    const isKnown = answer?.kind === 'value' && shows(way, answer.value, hash)
    record.detail = isKnown ? 'it knows the transaction' : 'it did not show the transaction'
    record.result = isKnown ? 'answer' : 'node-error'
    if (answer !== null && !isTrouble(answer)) return isKnown ? 'shown' : 'not shown'
    record.result = answer?.failure ?? chain.failures.ofTransport('timeout')
    // Who had less time than a question has by itself is not to blame for being late.
    if (answer !== null) applyProbe(upstream, url, answer, 'confirm')
    return 'trouble'
  } catch (error) {
    record.result = 'aborted'
    throw error
  } finally {
    upstream.sessions -= 1
    record.endedMs = clock.nowMs()
    observer.attemptEnded(call, record)
  }
}

function shows({ present }: Confirmation, value: unknown, hash: string): boolean {
  if (present) return true
  return typeof value === 'string' && value.toLowerCase() === hash.toLowerCase()
}

/** A template with the hash in it. */
function filled(template: unknown, hash: string): unknown {
  if (template === '%s') return hash
  if (template === '%b') return Buffer.from(hash, 'hex').toString('base64')
  if (Array.isArray(template)) return template.map((each) => filled(each, hash))
  if (typeof template !== 'object' || template === null) return template
  const members = Object.entries(template)
  return Object.fromEntries(members.map(([name, value]) => [name, filled(value, hash)]))
}

interface Sent {
  readonly hash: string
  readonly confirm: readonly Confirmation[]
  readonly answer: unknown
}

function sentIn({ asked }: Call): Sent | null {
  for (const { rule, wanted } of asked.checks) {
    if (rule.check !== 'sent' || rule.confirm.length === 0) continue
    const hash = sentHash(rule.digest, wanted)
    return hash === null ? null : { hash, confirm: rule.confirm, answer: rule.answer }
  }
  return null
}

/**
 * Within the call's budget.
 * @returns null when that was used up
 * @throws CallAborted when nobody waits for it any more
 */
async function askFor(
  { asked, journal, signal }: Call,
  url: NodeUrl,
  { method, params, result }: Confirmation,
  hash: string,
  { chain, dialect, clock }: KnownTransactionOptions,
): Promise<ProbeAnswer | null> {
  const limit = new TimeLimit(clock, signal, journal.deadlineMs - clock.nowMs())
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: filled(params, hash) })
    const path = { path: result, encoding: 'text' } as const
    const at = asked.internalPath ?? ''
    const question = { verb: 'POST', path: at, body, result: path, timeoutMs: null }
    const { failures } = chain
    return await probe(url, question, { dialect, failures, clock, signal: limit.signal })
  } catch (error) {
    if (signal.aborted) throw new CallAborted()
    if (limit.spentMs === null) throw error
    return null
  } finally {
    limit.end()
  }
}
