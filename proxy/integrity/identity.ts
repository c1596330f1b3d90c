// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../chain/native/schema.ts'
import type { BlockRef } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { shown, toHash, toNumber } from '../json/values.ts'
import type { CheckName, Violation } from './violation.ts'

type Rule<Name> = Extract<CheckRule, { check: Name }>

/** Checks that the block, or each item of the list, belongs to the requested block. */
export function checkBlock(
  rule: Rule<'block'>,
  result: unknown,
  requested: BlockRef,
): Violation | null {
  if (requested.kind !== 'number' && requested.kind !== 'hash') return null
  if (rule.each !== true) return compareBlock(rule, result, requested)
  if (!Array.isArray(result)) return null
  for (const item of result) {
    const found = compareBlock(rule, item, requested)
    if (found) return found
  }
  return null
}

function compareBlock(
  { number, hash, older = 0 }: Rule<'block'>,
  result: unknown,
  requested: Extract<BlockRef, { kind: 'number' | 'hash' }>,
): Violation | null {
  if (requested.kind === 'hash')
    return hash ? compare('block-hash', toHash, requested.hash, valueAt(result, hash)) : null
  const got = number && toNumber(valueAt(result, number))
  // Ethermint chains answer a request for block 0 with the latest block.
  if (got === undefined || got === null || requested.number === 0) return null
  const isRight = got <= requested.number && got >= requested.number - older
  return isRight ? null : mismatch('block-number', requested.number, got)
}

type Normal = (value: unknown) => string | number | null
const normalAs: Readonly<Record<NonNullable<Rule<'identity'>['as']>, Normal>> = {
  hash: toHash,
  number: toNumber,
  text: (value) => (typeof value === 'string' ? value : null),
}

/** Checks that the answer has the identity named in the request. */
export function checkIdentity(
  { result: path, as = 'hash' }: Rule<'identity'>,
  result: unknown,
  wanted: unknown,
): Violation | null {
  return compare('identity', normalAs[as], wanted, valueAt(result, path))
}

/** Returns and forgets a conflicting earlier parent of a block; the next answer starts over. */
export interface KnownParents {
  otherParent(hash: string, parent: string): string | null
}

/** Checks that a block has the same parent as before. A reorg changes the hash of a block. */
export function checkParent(rule: Rule<'parent'>, result: unknown, known: KnownParents) {
  const hash = toHash(valueAt(result, rule.hash))
  const parent = toHash(valueAt(result, rule.parent))
  // Zeros mean that there is no hash, and become empty here.
  const other = hash && parent && known.otherParent(hash, parent)
  return other ? mismatch('parent', other, parent) : null
}

/** Compares only values with a normal form, because nodes have several names for some things. */
function compare(
  check: CheckName,
  normal: Normal,
  wanted: unknown,
  got: unknown,
): Violation | null {
  const [left, right] = [normal(wanted), normal(got)]
  if (left === null || right === null || left === right) return null
  return mismatch(check, wanted, got)
}

export function mismatch(check: CheckName, wanted: unknown, got: unknown): Violation {
  return { check, detail: `asked for ${shown(wanted)}, got ${shown(got)}` }
}
