// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { ask, type ProbeAnswer } from '../upstream/ask.ts'
import type { Dialect } from '../upstream/dialect.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Call } from './call.ts'
import { CallAborted } from './errors.ts'
import { transactionHash } from './integrity/transaction-hash.ts'
import type { RelayObserver } from './observer.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

export interface KnownTransactionOptions {
  readonly chain: Chain
  readonly dialect: Dialect
  readonly pool: Pool
  readonly clock: Clock
  readonly observer: RelayObserver
}

/**
 * Gives a client that sends a transaction again its hash: when the best that the nodes say is that
 * it is known, the node that said so is asked for it. One that does not find it meant something
 * else, and its own words go to the client.
 */
export function knownTransaction(options: KnownTransactionOptions): Step {
  return (next) => async (call) => {
    const reply = await next(call)
    if (reply.refusal?.transaction !== 'known') return reply
    // Nothing that says so is that long, and a stream would have to be let go.
    if (!(reply.incoming.body instanceof Uint8Array)) return reply
    const hash = await confirmedHash(options, call, reply)
    if (hash === null) return reply
    const incoming = {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: call.reader.write(hash),
      trailers: () => [],
    }
    return { ...reply, incoming, refusal: null }
  }
}

/** Null when the transaction cannot be named, or the node does not know it after all. */
async function confirmedHash(
  options: KnownTransactionOptions,
  call: Call,
  { upstream: name }: Reply,
): Promise<string | null> {
  const { chain, pool, clock, observer } = options
  const sent = sentIn(call)
  const hash = sent && transactionHash(sent.raw)
  const upstream = pool.upstreams.find((each) => each.name === name)
  const [url] = upstream?.urlsFor([]) ?? []
  if (!sent || !hash || !upstream || !url) return null
  if (call.signal.aborted) throw new CallAborted()
  if (clock.nowMs() >= call.journal.deadlineMs) return null

  const record = call.journal.begin(name, 'confirm', clock.nowMs())
  upstream.sessions += 1
  try {
    const answer = await askFor(call, url, sent.confirm, hash, options)
    const value = answer.kind === 'value' ? answer.value : null
    const isKnown = typeof value === 'string' && value.toLowerCase() === hash
    record.result =
      answer.kind === 'failed' ? chain.failures.ofTransport(answer.fault) : 'node-error'
    if (isKnown) record.result = 'answer'
    record.detail = isKnown ? 'it knows the transaction' : 'it did not show the transaction'
    return isKnown ? hash : null
  } catch (error) {
    record.result = 'aborted'
    throw error
  } finally {
    upstream.sessions -= 1
    record.endedMs = clock.nowMs()
    observer.attemptEnded(call, record)
  }
}

interface Sent {
  readonly raw: unknown
  readonly confirm: Confirm
}
interface Confirm {
  readonly method: string
  readonly result: readonly (string | number)[]
}

function sentIn({ asked }: Call): Sent | null {
  for (const { rule, wanted } of asked.checks)
    if (rule.check === 'sent' && rule.confirm) return { raw: wanted, confirm: rule.confirm }
  return null
}

/** Within the call's budget. @throws CallAborted when nobody waits for it any more */
async function askFor(
  { journal, signal }: Call,
  url: NodeUrl,
  { method, result }: Confirm,
  hash: string,
  { chain, dialect, clock }: KnownTransactionOptions,
): Promise<ProbeAnswer> {
  const limit = new TimeLimit(clock, signal, journal.deadlineMs - clock.nowMs())
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [hash] })
    const path = { path: result, encoding: 'text' } as const
    const probe = { verb: 'POST', path: '', body, result: path, timeoutMs: null }
    const { failures } = chain
    return await ask(url, probe, { dialect, failures, clock, signal: limit.signal })
  } catch (error) {
    if (signal.aborted) throw new CallAborted()
    if (limit.spentMs === null) throw error
    return { kind: 'failed', fault: 'timeout' }
  } finally {
    limit.end()
  }
}
