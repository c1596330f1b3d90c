// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../../../chain/types.ts'
import { BlockMemory } from '../block-memory.ts'
import { findViolation } from '../find-violation.ts'
import { LongResult } from '../long-result.ts'

const noMore = { upstream: 'a', skipVerifications: [], horizon: () => null }

/**
 * The name of what is wrong with an answer, with `?` behind it when it is only doubted; null when
 * nothing is.
 */
export function wrongWith(
  { checks, block }: Classification,
  result: unknown,
  skipVerifications: readonly string[] = [],
): string | null {
  const bytes = Buffer.from(`{"result": ${JSON.stringify(result)} }`)
  const asked = { ...noMore, checks, block, skipVerifications }
  const span = { start: 11, end: bytes.length - 2 }
  const found = findViolation(bytes, span, asked, new BlockMemory())
  return found && `${found.check}${found.certain ? '' : '?'}`
}

/** The same of an answer that is not held, but comes in pieces of 64 KiB. */
export function wrongWithLong({ checks, block }: Classification, result: unknown): string | null {
  const bytes = Buffer.from(JSON.stringify(result))
  const long = new LongResult({ ...noMore, checks, block }, new BlockMemory())
  for (let at = 0; at < bytes.length; at += 65_536) long.push(bytes.subarray(at, at + 65_536))
  return (long.checkBeginning() ?? long.end())?.check ?? null
}

/** The same of an answer that passes in small pieces, whose lists are looked at item by item. */
export function wrongInPieces({ checks, block }: Classification, result: unknown): string | null {
  const bytes = Buffer.from(JSON.stringify(result))
  const long = new LongResult({ ...noMore, checks, block }, new BlockMemory(), 0)
  for (let at = 0; at < bytes.length; at += 7) {
    const found = long.push(bytes.subarray(at, at + 7))
    if (found) return found.check
  }
  return long.end()?.check ?? null
}
