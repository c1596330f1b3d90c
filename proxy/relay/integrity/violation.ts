// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What a violation is counted under: a metric label. */
export const checkNames = {
  envelope: 'the answer is not whole, or not in the form of its interface',
  'block-number': 'the height differs from the one asked for',
  'block-hash': 'the block hash differs from the one asked for',
  identity: 'the answer is about another transaction, index or account than the one asked for',
  'items-block': 'an item of the answer belongs to another block than the one asked for',
  'items-alike': 'items of one answer contradict each other, or the object around them',
  'items-count': 'the answer has more or fewer items than were asked for',
  'items-order': 'items of one answer are missing, doubled or out of order',
  'logs-range': 'a log lies outside of the block range of the filter',
  'logs-block': 'a log is of another block than the filter or its neighbours say',
  'logs-address': 'a log is of an address that the filter does not name',
  'logs-topics': 'the topics of a log do not match the filter',
  'logs-order': 'logs are doubled or out of order',
  'logs-transaction': 'logs of one block contradict each other about their transactions',
  bloom: 'the logs are not those that their bloom filter was made of',
  parent: 'a block hash stands for another height or parent than it did before',
  chain: 'the answer is about another chain than the one that the spec describes',
  'header-hash': 'a block hash is not that of the header beside it',
  receipt: 'the gas, the status and the logs of a receipt contradict each other',
  'transaction-hash': 'a transaction and its hash do not belong together',
  shape: 'the answer does not hold what the method promises',
} as const

export type CheckName = keyof typeof checkNames

/** What speaks against an answer. */
export interface Violation {
  readonly check: CheckName
  /** What was wanted and what came: short, plain ASCII, without anything of the URL. */
  readonly evidence: string
  /**
   * False: it may be true. Another upstream says otherwise, and may be the one that is wrong; or the
   * answer is unusual.
   */
  readonly certain: boolean
}

export function violation(check: CheckName, evidence: string): Violation {
  return { check, evidence, certain: true }
}

/** It may be true all the same: see `certain`. */
export function doubtful(check: CheckName, evidence: string): Violation {
  return { check, evidence, certain: false }
}
