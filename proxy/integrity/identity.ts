// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../chain/native/schema.ts'
import type { BlockRef } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { shown, toHash, toNumber } from '../json/values.ts'
import type { CheckName, Violation } from './violation.ts'

type Rule<Name> = Extract<CheckRule, { check: Name }>

/** The block, or each item of the list, is of the block asked for. */
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
  // Chains on Ethermint answer a request for block 0 with the latest block.
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

/** The answer is about what the request names. */
export function checkIdentity(
  { result: path, as = 'hash' }: Rule<'identity'>,
  result: unknown,
  wanted: unknown,
): Violation | null {
  return compare('identity', normalAs[as], wanted, valueAt(result, path))
}

/** The other parent that a block was shown with before, which is then forgotten: the next answer begins anew. */
export interface KnownParents {
  otherParent(hash: string, parent: string): string | null
}

/** A block has the parent that it had before. A reorg makes other blocks, with other hashes. */
export function checkParent(rule: Rule<'parent'>, result: unknown, known: KnownParents) {
  const hash = toHash(valueAt(result, rule.hash))
  const parent = toHash(valueAt(result, rule.parent))
  // A hash of zeros means none, and is empty here.
  const other = hash && parent && known.otherParent(hash, parent)
  return other ? mismatch('parent', other, parent) : null
}

/** What has no normal form, on either side, cannot be compared: nodes know things by several names. */
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
