// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { parseRetryAfter } from '../upstream/hold-off.ts'
import type { NodeUrl } from '../upstream/node-url.ts'
import type { PoolObserver } from '../upstream/observer.ts'
import type { Pool } from '../upstream/pool.ts'
import { readBlockNumber } from '../upstream/result.ts'
import { TransportError } from '../upstream/transport.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { header, type Incoming } from '../upstream/wire.ts'
import { attemptBudgetMs } from './attempt-budget.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { CallAborted } from './errors.ts'
import type { AttemptKind, AttemptRecord } from './journal.ts'
import { addonsOf } from './needs.ts'
import type { RelayObserver } from './observer.ts'
import type { Reply } from './reply.ts'

/** Asks one upstream on behalf of a call. @throws AttemptFailed @throws CallAborted */
export type Attempt = (call: Call, upstream: Upstream) => Promise<Reply>

export interface AttemptOptions {
  readonly chain: Chain
  readonly pool: Pool
  readonly minRelayTimeoutMs: number
  readonly clock: Clock
  readonly observer: RelayObserver
  readonly poolObserver: PoolObserver
}

/**
 * One question to one upstream: within its time, by the best of its URLs, failing over to the next
 * URL when one fails fast. It judges what comes back and tells the upstream's score and standing.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  return async (call, upstream) => {
    const urls = upstream.urlsFor(addonsOf(call))
    let last: AttemptFailed | null = null
    upstream.sessions += 1
    try {
      for (const url of urls) {
        const kind = last === null ? call.attemptKind : 'failover'
        const outcome = await askUrl(options, call, upstream, url, kind)
        if (!(outcome instanceof AttemptFailed)) return outcome
        last = outcome
        if (!mayFailOver(call, outcome)) break
      }
    } finally {
      upstream.sessions -= 1
    }
    if (last === null) throw new Error('an upstream was chosen that has no URL for the call')
    throw last
  }
}

/** A slow URL has used the time up; and what may have been done must not be done twice. */
function mayFailOver(call: Call, failed: AttemptFailed): boolean {
  if (!failed.sent || failed.failure.holdOff) return true
  return call.asked.kind === 'read' && failed.failure.retry && failed.failure.name !== 'timeout'
}

async function askUrl(
  options: AttemptOptions,
  call: Call,
  upstream: Upstream,
  url: NodeUrl,
  kind: AttemptKind,
): Promise<Reply | AttemptFailed> {
  const { chain, clock, minRelayTimeoutMs } = options
  const record = call.journal.begin(upstream.name, kind, clock.nowMs())
  const ownMs = attemptBudgetMs(call.asked, {
    directiveMs: call.directives.relayTimeoutMs,
    urlMs: url.timeoutMs,
    minMs: minRelayTimeoutMs,
    blockTimeMs: chain.blockTimeMs,
  })
  const budgetMs = Math.min(ownMs, call.journal.deadlineMs - record.startedMs)
  try {
    const incoming = await sendWithin(budgetMs, options, call, url)
    return judge(options, call, upstream, url, record, incoming)
  } catch (error) {
    if (call.signal.aborted) {
      end(options, call, record, 'aborted', null)
      const nowMs = clock.nowMs()
      upstream.score.outrun(nowMs - record.startedMs, call.asked.cost, nowMs)
      throw new CallAborted()
    }
    if (!(error instanceof TransportError)) throw error
    const failure = chain.failures.ofTransport(error.fault)
    return fail(options, call, upstream, url, record, failure, error.message, null, error.sent)
  }
}

/** Sends, and takes the request back when its time is over or nobody waits any more. */
async function sendWithin(
  budgetMs: number,
  { clock }: AttemptOptions,
  call: Call,
  url: NodeUrl,
): Promise<Incoming> {
  const abort = new AbortController()
  const takeBack = () => {
    abort.abort()
  }
  let timedOut = false
  const cancelTimer = clock.after(budgetMs, () => {
    timedOut = true
    abort.abort()
  })
  call.signal.addEventListener('abort', takeBack, { once: true })
  try {
    return await url.transport.send(call.request, abort.signal)
  } catch (cause) {
    if (timedOut)
      throw new TransportError('timeout', `no answer in ${Math.round(budgetMs)} ms`, true, {
        cause,
      })
    throw cause
  } finally {
    cancelTimer()
    call.signal.removeEventListener('abort', takeBack)
  }
}

function judge(
  options: AttemptOptions,
  call: Call,
  upstream: Upstream,
  url: NodeUrl,
  record: AttemptRecord,
  incoming: Incoming,
): Reply | AttemptFailed {
  const { chain, clock, pool } = options
  const finding = call.reader.read(incoming)
  const reply = {
    incoming,
    upstream: upstream.name,
    isNodeError: finding.kind === 'node-error',
    get latestBlock() {
      return upstream.latest?.block ?? null
    },
  }
  if (finding.kind === 'malformed') {
    const failure = chain.failures.ofStatus(incoming.status)
    // A broken answer that claims success is never passed on; an error page is the node's own word.
    const own = incoming.status >= 400 ? reply : null
    return fail(options, call, upstream, url, record, failure, finding.why, own, true)
  }
  if (finding.kind === 'node-error') {
    const failure = chain.failures.ofNodeError(finding.error)
    if (failure.retry || failure.holdOff) {
      const detail = `code ${finding.error.code}`
      return fail(options, call, upstream, url, record, failure, detail, reply, true)
    }
    end(options, call, record, 'node-error', failure.name)
  } else {
    if (call.asked.tellsTip) {
      const block = readBlockNumber(incoming.body, call.asked.tellsTip)
      if (block !== null) pool.sighted(upstream, block)
    }
    end(options, call, record, 'answer', null)
  }
  upstream.succeeded(url, clock.nowMs() - record.startedMs, call.asked.cost)
  return reply
}

function fail(
  options: AttemptOptions,
  call: Call,
  upstream: Upstream,
  url: NodeUrl,
  record: AttemptRecord,
  failure: FailureClass,
  detail: string,
  reply: Reply | null,
  sent: boolean,
): AttemptFailed {
  if (failure.holdOff) {
    const { clock, poolObserver } = options
    const retryAfter = reply && header(reply.incoming.headers, 'retry-after')
    const holdOffMs = url.holdOff.begin(parseRetryAfter(retryAfter, clock.wallMs()))
    poolObserver.heldOff(upstream.name, url.printable, holdOffMs)
  } else if (failure.weight > 0) {
    url.failures += 1
    // One bad URL never costs the upstream while another of its URLs is well.
    const others = upstream.urlsFor(addonsOf(call)).some((other) => other.failures === 0)
    if (!others) upstream.failed(failure)
  }
  end(options, call, record, failure, detail)
  return new AttemptFailed(upstream.name, failure, reply, sent)
}

function end(
  { clock, observer }: AttemptOptions,
  call: Call,
  record: AttemptRecord,
  result: Exclude<AttemptRecord['result'], null>,
  detail: string | null,
): void {
  record.endedMs = clock.nowMs()
  record.result = result
  record.detail = detail
  observer.attemptEnded(call, record)
}
