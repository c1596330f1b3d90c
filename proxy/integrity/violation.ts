// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What a violation is counted under: a metric label. */
export const checkNames = {
  envelope: 'the answer is not whole, or not in the form of its interface',
  'block-number': 'the block has another number than the one asked for',
  'block-hash': 'the block has another hash than the one asked for',
  identity: 'the answer is about another transaction than the one asked for',
  'logs-range': 'a log is of a block outside the range of the filter',
  'logs-block': 'a log is of another block than the filter names',
  'logs-address': 'a log is of an address that the filter does not name',
  'logs-topics': 'the topics of a log do not match the filter',
  'sent-hash': 'the hash is not that of the transaction that was sent',
  parent: 'a block has another parent than it had before',
  'header-hash': 'the hash of a block is not made of its header',
  'transaction-hash': 'the hash of a transaction is not made of its members',
} as const

export type CheckName = keyof typeof checkNames

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
