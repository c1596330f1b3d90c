// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** How the router treats a failure. Data of `specs/failures/*.yml`. */
export interface FailureClass {
  /** Stable, lower case with dashes: a metric label and a word of the log. */
  readonly name: string
  /** The cause: the upstream (it is blamed), the node's own answer, or a mistake of the caller. */
  readonly origin: 'upstream' | 'node' | 'caller'
  /** Another upstream may succeed. */
  readonly retry: boolean
  /** The URL gets a cooldown; not a failure of the upstream. */
  readonly holdOff: boolean
  /** How much one such failure counts towards disabling; 0 for none. */
  readonly weight: number
  /** The upstream claimed success with a wrong answer: the client gets its name in a header. */
  readonly reported: boolean
  /** A timeout: no failure if the attempt had less time than an upstream may take. */
  readonly late: boolean
  /** Its meaning is unknown: a read asks another upstream, any other call takes it as the answer. */
  readonly doubtful: boolean
  /** The node lacks the block or its state. If the block is old, the node has pruned it. */
  readonly pruned: boolean
  /**
   * About a transaction: the node has it already; its nonce is used, by this transaction or another;
   * or the node refuses it for another reason.
   */
  readonly transaction: 'known' | 'used' | 'refused' | null
}

/** What a check can find in an answer that is in the interface's form and no error. */
export const answerFindings = ['violated', 'doubted', 'below-floor'] as const
export type AnswerFinding = (typeof answerFindings)[number]

/** An error that a node returned, on any interface. */
export interface NodeError {
  readonly status: number
  /** JSON-RPC or gRPC code; null where there is none. */
  readonly code: number | null
  readonly message: string
}

/** Why no complete answer came. */
export const transportFaults = [
  'refused', // nothing listens there: the request was not sent
  'unresolved', // the name has no address
  'tls', // certificate or handshake
  'reset', // the connection ended before the answer did
  'declined', // the node ended the request early, and the request is the reason
  'truncated', // fewer bytes than announced, or a broken encoding
  'protocol', // not an answer in the protocol
  'too-large', // more bytes than the router takes
  'timeout', // the budget of the attempt was used up
  'limited', // too many connections or requests: nothing was sent
  'unsendable', // the request itself cannot be written: nothing was sent
  'aborted', // the router cancelled it: the client left, or another attempt won
] as const
export type TransportFault = (typeof transportFaults)[number]

/** Classifies an attempt without a plain answer. Pure. */
export interface FailureTable {
  ofTransport(fault: TransportFault): FailureClass
  /** For an answer that is not in the interface's form (HTML, empty, cut): by HTTP status. */
  ofStatus(status: number): FailureClass
  /**
   * The same with its bytes. Gateways report limits in forms of their own, also with HTTP 200, such as
   * `{"message":"API rate limit exceeded"}`.
   */
  ofPage(status: number, body: Uint8Array): FailureClass
  /**
   * For an error in the interface's own form.
   * @param method the method of the request; null: not known
   * @param runsCallerCode the words may be the caller's own: they alone begin no cooldown, and blame nobody
   */
  ofNodeError(error: NodeError, method?: string | null, runsCallerCode?: boolean): FailureClass
  /** For an answer that fails a check. */
  ofAnswer(finding: AnswerFinding): FailureClass
}
