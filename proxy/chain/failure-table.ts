// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** What follows from a failure. Data of `specs/failures/*.yml`. */
export interface FailureClass {
  /** Stable, lower case with dashes: a metric label and a word of the log. */
  readonly name: string
  /** Whose doing: the upstream's (it is blamed), the node's own answer, or the caller's mistake. */
  readonly whose: 'upstream' | 'node' | 'caller'
  /** Another upstream may well do better. */
  readonly retry: boolean
  /** Leave this URL alone for a while; not a failure of the upstream. */
  readonly holdOff: boolean
  /** How much one such failure counts towards disabling; 0 for none. */
  readonly weight: number
  /** It claimed success and did not tell the truth: the client hears of it. */
  readonly reported: boolean
  /** It ran out of time: no failure where it had less than an upstream may take. */
  readonly late: boolean
  /** Nobody knows what it means: a read is tried elsewhere, of anything else it is the answer. */
  readonly doubtful: boolean
  /**
   * What it says of a transaction: that the node has it already; that its nonce is used, by itself or
   * by another; or what else is wrong with it.
   */
  readonly transaction: 'known' | 'used' | 'refused' | null
}

/** What can be found out about an answer that is in the interface's form and no error. */
export const answerFindings = ['violated', 'doubted', 'missing-block'] as const
export type AnswerFinding = (typeof answerFindings)[number]

/** An error as a node tells it, whatever the interface. */
export interface NodeError {
  /** The HTTP status that it came with. */
  readonly status: number
  /** JSON-RPC or gRPC code; null where there is none. */
  readonly code: number | null
  readonly message: string
}

/** Why no complete answer came. */
export const transportFaults = [
  'refused', // nobody listens: the request was not sent
  'unresolved', // the name has no address
  'tls', // certificate or handshake
  'reset', // the connection ended before the answer did
  'declined', // the node broke the request off, and says that the request is why
  'truncated', // fewer bytes than announced, or a broken encoding
  'protocol', // not an answer in the protocol
  'too-large', // more bytes than the router takes
  'timeout', // the budget of the attempt was used up
  'limited', // too many connections or requests: nothing was sent
  'unsendable', // the request cannot be written: its own fault, nothing was sent
  'aborted', // taken back by the router: the client left, or another attempt won
] as const
export type TransportFault = (typeof transportFaults)[number]

/** Decides what an attempt that gave no plain answer means. Pure. */
export interface FailureTable {
  ofTransport(fault: TransportFault): FailureClass
  /** For an answer that is not in the interface's form (HTML, empty, cut): by HTTP status. */
  ofStatus(status: number): FailureClass
  /**
   * The same where its bytes are at hand: gateways tell of their limits in forms of their own, such as
   * `{"message":"API rate limit exceeded"}`, also with HTTP 200.
   */
  ofPage(status: number, body: Uint8Array): FailureClass
  /**
   * For an error in the interface's own form.
   * @param method what it answers; null: nobody knows
   */
  ofNodeError(error: NodeError, method?: string | null): FailureClass
  /** For an answer that a check refuses. */
  ofAnswer(finding: AnswerFinding): FailureClass
}
