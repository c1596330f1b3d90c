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
  /**
   * What it says of a transaction: that the node has it already, that it may have it since its nonce
   * is used, or what else is wrong with it.
   */
  readonly transaction: 'known' | 'maybe-known' | 'refused' | null
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

/** Decides what an attempt that gave no plain answer means. Pure. */
export interface FailureTable {
  /** For a `TransportFault`, by name. */
  ofTransport(fault: string): FailureClass
  /** For an answer that is not in the interface's form (HTML, empty, cut): by HTTP status. */
  ofStatus(status: number): FailureClass
  /**
   * For an error in the interface's own form.
   * @param isQuoted whether words of its message may come from the request: they blame no upstream
   */
  ofNodeError(error: NodeError, isQuoted?: (words: string) => boolean): FailureClass
  /** For an answer that a check refuses. */
  ofAnswer(finding: AnswerFinding): FailureClass
}
