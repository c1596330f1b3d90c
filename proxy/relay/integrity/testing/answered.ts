// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../../../chain/types.ts'
import { BlockMemory } from '../block-memory.ts'
import { findViolation } from '../find-violation.ts'
import { LongResult } from '../long-result.ts'

const noMore = { upstream: 'a', skipVerifications: [], horizon: () => null }

/** The name of what is wrong with an answer; null when nothing is. */
export function wrongWith(
  { checks, block }: Classification,
  result: unknown,
  skipVerifications: readonly string[] = [],
): string | null {
  const bytes = Buffer.from(`{"result": ${JSON.stringify(result)} }`)
  const asked = { ...noMore, checks, block, skipVerifications }
  const span = { start: 11, end: bytes.length - 2 }
  return findViolation(bytes, span, asked, new BlockMemory())?.check ?? null
}

/** The same of an answer that is not held, but comes in pieces of 64 KiB. */
export function wrongWithLong({ checks, block }: Classification, result: unknown): string | null {
  const bytes = Buffer.from(JSON.stringify(result))
  const long = new LongResult({ ...noMore, checks, block }, new BlockMemory())
  for (let at = 0; at < bytes.length; at += 65_536) long.push(bytes.subarray(at, at + 65_536))
  return (long.checkBeginning() ?? long.end())?.check ?? null
}
