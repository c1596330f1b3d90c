// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What a violation is counted under, a metric label: see `docs/concepts/integrity.md`. */
export type CheckName =
  | 'envelope'
  | 'block-number'
  | 'block-hash'
  | 'identity'
  | 'logs-range'
  | 'logs-block'
  | 'logs-address'
  | 'logs-topics'
  | 'sent-hash'
  | 'parent'
  | 'header-hash'
  | 'transaction-hash'

/** What is wrong with an answer. Two upstreams that show the same violation are probably right. */
export interface Violation {
  readonly check: CheckName
  /** What was asked for and what was returned, in short. */
  readonly detail: string
  /** For a hash that does not match its fields: the form of the block or transaction. */
  readonly form?: string
}

/**
 * The answer may be right all the same: an earlier one was wrong, or this chain makes its hashes in
 * another way. It does not count against the upstream, and is passed on when no other one can be asked.
 */
export function mayBeRight({ check }: Violation): boolean {
  return check === 'parent' || check === 'header-hash' || check === 'transaction-hash'
}
