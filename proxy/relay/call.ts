// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../chain/types.ts'
import type { CancelSignal } from '../clock/cancellation.ts'
import type { NodeUrl } from '../upstream/upstream.ts'
import type { Incoming, Outgoing } from '../upstream/wire.ts'
import type { AttemptRecord, Journal } from './journal.ts'
import type { ReplyReader } from './reply.ts'

/**
 * One question of one client on its way through the relay, whatever wire it came by. A JSON-RPC
 * batch is as many calls as it has items.
 */
export interface Call {
  /** Unique; ties headers, logs and traces together. */
  readonly guid: string
  /** What the spec says about it. */
  readonly asked: Classification
  /** What goes to the upstream, the same for each attempt. */
  readonly request: Outgoing
  /** How to read an answer to it. */
  readonly reader: ReplyReader
  readonly directives: Directives
  /** Aborted when nobody waits for the reply any more. */
  readonly signal: CancelSignal
  /** What happened to it so far; written by the relay, read for headers, logs and metrics. */
  readonly journal: Journal
  /** Of a write, what it sends beside its method, whatever its id; absent: the whole body of the request. */
  readonly payload?: Uint8Array
  /** How the first attempt may leave in one request with others; absent: it goes alone. */
  readonly shared?: { readonly send: Send; readonly others: number }
}

/** What the client asked of the router itself, by request headers. */
export interface Directives {
  /** `rpc-select-provider`: this upstream first. */
  readonly selectProvider: string | null
  /** `rpc-providers-block`: never these. */
  readonly blockProviders: readonly string[]
  /** `rpc-extension`: lower case; only upstreams that declare it. */
  readonly extension: string | null
  /** `rpc-relay-timeout`: per attempt, verbatim. */
  readonly relayTimeoutMs: number | null
  /** `rpc-debug-relay`: a log line per attempt. */
  readonly debugRelay: boolean
}

export const noDirectives: Directives = {
  selectProvider: null,
  blockProviders: [],
  extension: null,
  relayTimeoutMs: null,
  debugRelay: false,
}

/** Puts a request to a URL. @throws TransportError */
export type Send = (url: NodeUrl, request: Outgoing, signal: CancelSignal) => Promise<Incoming>

/** It can be sent once more: most bodies that stream are gone with their first reading. */
export function isRepeatable({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array || body.isRepeatable === true
}

/** It says how fast a node is, and holds up no other that leaves with it. */
export function isLight({ asked }: Pick<Call, 'asked'>): boolean {
  return asked.cost <= 20 && !asked.waitsForBlock
}

/** It can be sent to several at once: all of its body is here. */
export function isWhole({ request: { body } }: Pick<Call, 'request'>): boolean {
  return body === null || body instanceof Uint8Array
}

/** Observes what the relay does; metrics and logs are made from it. Must not throw. */
export interface RelayObserver {
  attemptEnded(call: Call, attempt: AttemptRecord): void
  breakerChanged(open: boolean): void
}
