// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** How the router treats a failure. Defined in `specs/failures/*.yml`. */
export interface FailureClass {
  /** Stable name in lower case with dashes, used as a metric label and in logs. */
  readonly name: string
  /** The cause: the upstream (which is blamed), the node's own answer, or the caller's mistake. */
  readonly origin: 'upstream' | 'node' | 'caller' | 'router'
  /** Whether another upstream may succeed. */
  readonly retry: boolean
  /** Whether the URL gets a cooldown; then it is no failure of the upstream. */
  readonly cooldown: boolean
  /** What is limited: calls per time, an allowance of hours, this method, or a connection. */
  readonly limit: (typeof limitKinds)[number] | null
  /** How long the upstream asks to wait; absent: it does not say. */
  readonly retryAfterMs?: number
  /** What the node limits in a range of blocks: a smaller one may succeed. Absent: nothing. */
  readonly range?: RangeLimit
  /** How much one such failure counts towards disabling; 0 for none. */
  readonly weight: number
  /** Whether a header names the upstream to the client, because it wrongly claimed success. */
  readonly reported: boolean
  /** Whether it is a timeout, which counts only if the attempt had the full time of an upstream. */
  readonly late: boolean
  /** Whether the node has executed nothing, and may accept the call in a moment. */
  readonly busy: boolean
  /** Whether the meaning is unknown: a read is retried elsewhere; other calls accept the answer. */
  readonly doubtful: boolean
  /** Whether the node lacks the block or its state. If the block is old, the node has pruned it. */
  readonly pruned: boolean
  /**
   * For a transaction: `pending`: the node accepted it and saw no block with it in time; `known`:
   * the node already has it; `used`: its nonce is used, by it or another; `refused`: the node
   * rejects it for another reason.
   */
  readonly transaction: 'pending' | 'known' | 'used' | 'refused' | null
}

/** What a node limits in a range of blocks. */
export interface RangeLimit {
  /** The number of blocks, the length of the result, or the time or another measure of the work. */
  readonly limits: (typeof rangeLimits)[number]
  /** Blocks that the node names as acceptable; null if it names none. */
  readonly blocks: number | null
}

export const rangeLimits = ['blocks', 'results', 'work'] as const

export const limitKinds = ['rate', 'quota', 'call', 'connection'] as const

/** Results of the checks on well-formed successful answers. */
export const answerFindings = ['violated', 'doubted', 'below-floor'] as const
export type AnswerFinding = (typeof answerFindings)[number]

/** An error that a node returned, on any interface. */
export interface NodeError {
  readonly status: number
  /** JSON-RPC or gRPC code; null if absent. */
  readonly code: number | null
  readonly message: string
  /** JSON of the error's `data`, cut; absent if it is no object. */
  readonly details?: string
}

/** Why no complete answer arrived. */
export const transportFaults = [
  'refused', // nothing listens on the port: the request was not sent
  'unresolved', // the name does not resolve
  'tls', // bad certificate, or failed handshake
  'reset', // the connection ended before the answer was complete
  'declined', // the node aborted the request because of its content
  'truncated', // fewer bytes than announced, or a broken encoding
  'protocol', // the bytes violate the protocol
  'too-large', // more bytes than the router accepts
  'timeout', // the attempt exceeded its time budget
  'limited', // too many connections or requests: nothing was sent
  'exhausted', // the router has no file, port or buffer left: nothing was sent
  'unsendable', // the request cannot be encoded: nothing was sent
  'aborted', // the router cancelled the attempt: the client disconnected, or another attempt won
] as const
export type TransportFault = (typeof transportFaults)[number]

/** Classifies attempts that ended without a successful answer. Pure. */
export interface FailureTable {
  ofTransport(fault: TransportFault): FailureClass
  /** Classifies an answer outside the interface's format (HTML, empty, truncated) by its status. */
  ofStatus(status: number): FailureClass
  /**
   * Classifies such an answer by its body too. Gateways report limits in their own formats, even
   * with HTTP 200, such as `{"message":"API rate limit exceeded"}`.
   */
  ofPage(status: number, body: Uint8Array): FailureClass
  /**
   * Classifies an error in the interface's format.
   * @param method the request's method; null if unknown
   * @param runsCallerCode the message may quote the caller, so its text alone blames no upstream
   */
  ofNodeError(error: NodeError, method?: string | null, runsCallerCode?: boolean): FailureClass
  /** Classifies an answer that fails a check. */
  ofAnswer(finding: AnswerFinding): FailureClass
}
