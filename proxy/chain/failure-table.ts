// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** How the router treats a failure; the data of `specs/failures/*.yml`. */
export interface FailureClass {
  /** Stable, lower case with dashes; used as metric label and in logs. */
  readonly name: string
  /** The cause: the upstream (which is blamed), the node's own answer, or the caller's mistake. */
  readonly origin: 'upstream' | 'node' | 'caller'
  /** Whether another upstream may succeed. */
  readonly retry: boolean
  /** Whether the URL gets a cooldown; then it is no failure of the upstream. */
  readonly cooldown: boolean
  /** What is limited: calls per time, an allowance of hours, or this method; null: nothing. */
  readonly limit: (typeof limitKinds)[number] | null
  /** How long the upstream asks to wait; absent: it does not say. */
  readonly retryAfterMs?: number
  /** How much one such failure counts towards disabling; 0 for none. */
  readonly weight: number
  /** Whether the client sees the upstream in a header, since it claimed success wrongly. */
  readonly reported: boolean
  /** A timeout, which counts only if the attempt had as long as an upstream may take. */
  readonly late: boolean
  /** Of unknown meaning: a read is retried elsewhere, any other call accepts it as the answer. */
  readonly doubtful: boolean
  /** The node lacks the block or its state. If the block is old, the node has pruned it. */
  readonly pruned: boolean
  /**
   * About a transaction: the node already knows it; its nonce is used, by this transaction or
   * another; or the node refuses it for another reason.
   */
  readonly transaction: 'known' | 'used' | 'refused' | null
}

export const limitKinds = ['rate', 'quota', 'call'] as const

/** Results of the checks on well-formed successful answers. */
export const answerFindings = ['violated', 'doubted', 'below-floor'] as const
export type AnswerFinding = (typeof answerFindings)[number]

/** An error that a node returned, on any interface. */
export interface NodeError {
  readonly status: number
  /** JSON-RPC or gRPC code; null when there is none. */
  readonly code: number | null
  readonly message: string
  /** JSON of the error's `data`, cut; absent if it is no object. */
  readonly details?: string
}

/** Why no complete answer arrived. */
export const transportFaults = [
  'refused', // nothing listens there: the request was not sent
  'unresolved', // the name has no address
  'tls', // certificate or handshake
  'reset', // the connection ended before the answer did
  'declined', // the node ended the request early because of the request
  'truncated', // fewer bytes than announced, or a broken encoding
  'protocol', // not an answer in the protocol
  'too-large', // more bytes than the router accepts
  'timeout', // the attempt exceeded its time budget
  'limited', // too many connections or requests: nothing was sent
  'unsendable', // the request itself cannot be written: nothing was sent
  'aborted', // the router cancelled it: the client disconnected, or another attempt won
] as const
export type TransportFault = (typeof transportFaults)[number]

/** Classifies an attempt without a plain answer. Pure. */
export interface FailureTable {
  ofTransport(fault: TransportFault): FailureClass
  /** Classifies an answer outside the interface's format (HTML, empty, cut) by its status. */
  ofStatus(status: number): FailureClass
  /**
   * The same, given the body. Gateways report limits in their own formats, even with HTTP 200, such
   * as `{"message":"API rate limit exceeded"}`.
   */
  ofPage(status: number, body: Uint8Array): FailureClass
  /**
   * Classifies an error in the interface's own format.
   * @param method the request's method; null: unknown
   * @param runsCallerCode the message may quote the caller, so text alone blames nobody
   */
  ofNodeError(error: NodeError, method?: string | null, runsCallerCode?: boolean): FailureClass
  /** Classifies an answer that fails a check. */
  ofAnswer(finding: AnswerFinding): FailureClass
}
