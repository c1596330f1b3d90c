// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { CallEnd } from '../listener/listener.ts'
import {
  type AttemptKind,
  type AttemptRecord,
  type Call,
  Journal,
  noDirectives,
} from '../relay/call.ts'
import type { Violation } from '../integrity/violation.ts'
import type { PoolSnapshot, StateRecord, UpstreamSnapshot } from '../upstream/observer.ts'

interface CallFixture {
  readonly method?: string
  readonly known?: boolean
  readonly guid?: string
  readonly debugRelay?: boolean
}

/** A call as a listener creates it. */
export function aCall(fixture: CallFixture = {}): Call {
  const { method = 'eth_call', known = true, guid = 'guid-1', debugRelay = false } = fixture
  return {
    guid,
    method: {
      name: method,
      known,
      kind: 'read',
      block: { kind: 'none' },
      addon: null,
      cost: 10,
      cacheable: false,
      deterministic: true,
      byHash: false,
      stateful: null,
      waitsForBlock: false,
      timeoutMs: null,
      tellsTip: null,
      checks: [],
    },
    request: { verb: 'POST', path: '', headers: [], body: Buffer.from('{}') },
    reader: { read: () => ({ kind: 'result' }), write: () => new Uint8Array() },
    directives: { ...noDirectives, debugRelay },
    signal: new AbortController().signal,
    journal: new Journal(0),
  }
}

/** A finished attempt of the call. */
export function anAttempt(
  call: Call,
  upstream: string,
  result: AttemptRecord['result'],
  more: {
    kind?: AttemptKind
    tookMs?: number
    detail?: string
    violation?: Violation
    missedBlock?: boolean
  } = {},
): AttemptRecord {
  const attempt = call.journal.begin(upstream, more.kind ?? 'first', 0)
  attempt.endedMs = more.tookMs ?? 10
  attempt.result = result
  attempt.detail = more.detail ?? null
  attempt.violation = more.violation ?? null
  attempt.missedBlock = more.missedBlock ?? false
  return attempt
}

/**
 * @param refusal the meaning of the upstream's own error; null for an answer, or for a page
 * @param grpcStatus at the end of the answer
 */
export function repliedBy(
  upstream: string,
  refusal: FailureClass | null = null,
  status = 200,
  grpcStatus = 0,
): CallEnd {
  const trailers = () => ['grpc-status', String(grpcStatus)]
  const incoming = { status, headers: [], body: new Uint8Array(), trailers }
  return { kind: 'reply', reply: { incoming, upstream, latestBlock: null, refusal } }
}

export function aFailure(name: string): FailureClass {
  return {
    name,
    origin: 'upstream',
    retry: true,
    cooldown: false,
    limit: null,
    weight: 1,
    reported: false,
    late: false,
    busy: false,
    doubtful: false,
    pruned: false,
    transaction: null,
  }
}

/** A state since the start of the virtual clock. */
export function aRecord(
  state: StateRecord['state'],
  why: string | null = null,
  until: string | null = null,
): StateRecord {
  return { state, since: '2026-01-01T00:00:00.000Z', why, until }
}

export function anUpstream(
  name: string,
  state: UpstreamSnapshot['state'],
  more: Partial<UpstreamSnapshot> = {},
): UpstreamSnapshot {
  return {
    name,
    tier: 'primary',
    ...aRecord(state),
    fault: null,
    sessions: 0,
    latestBlock: null,
    lagBlocks: null,
    lagSeconds: null,
    oldestBlocks: {},
    ...{ urls: [], verifications: [], urlsInCooldown: 0, methodLimits: [], qualities: null },
    ...{ isDayUsed: false, learnedPerSecond: null, learnedLogBlocks: null },
    cooldownLeftMs: null,
    latencyMs: null,
    score: null,
    ...more,
  }
}

/** The snapshot of a pool with an unknown tip. */
export function aPool(
  upstreams: readonly UpstreamSnapshot[],
  more: Partial<PoolSnapshot> = {},
): PoolSnapshot {
  return { tip: null, tipAgeMs: null, blockTimeMs: 12_000, reorgs: null, upstreams, ...more }
}
