// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The label of a violation in the metrics: see `docs/concepts/integrity.md`. */
export const checkNames = [
  'envelope',
  'block-number',
  'block-hash',
  'identity',
  'logs-range',
  'logs-block',
  'logs-address',
  'logs-topics',
  'sent-hash',
  'parent',
  'header-hash',
  'transaction-hash',
] as const
export type CheckName = (typeof checkNames)[number]

/** A defect of an answer. Two upstreams with the same violation are probably right. */
export interface Violation {
  readonly check: CheckName
  /** A summary of the requested and the returned value. */
  readonly detail: string
  /** For a hash that does not match its fields: the form of the block or transaction. */
  readonly form?: string
}

/**
 * Whether the answer may still be right: an earlier one was wrong, or the chain computes its hashes
 * differently. It does not count against the upstream, and is passed on if there is no alternative.
 */
export function mayBeRight({ check }: Violation): boolean {
  return check === 'parent' || check === 'header-hash' || check === 'transaction-hash'
}
