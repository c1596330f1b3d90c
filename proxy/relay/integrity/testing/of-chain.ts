// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../../../chain/types.ts'
import { BlockMemory } from '../block-memory.ts'
import { findViolation } from '../find-violation.ts'
import { LongResult } from '../long-result.ts'

/**
 * The name of what is wrong with an answer, with `?` behind it when it is only doubted; null when
 * nothing is.
 */
export function wrongWith(asked: Classification, result: unknown): string | null {
  const bytes = Buffer.from(`{"result": ${JSON.stringify(result)} }`)
  const span = { start: 11, end: bytes.length - 2 }
  const found = findViolation(bytes, span, askedOf(asked), new BlockMemory())
  return found && `${found.check}${found.certain ? '' : '?'}`
}

/** The same of an answer that passes in pieces, whose lists are looked at item by item. */
export function wrongInPieces(asked: Classification, result: unknown): string | null {
  const bytes = Buffer.from(JSON.stringify(result))
  const long = new LongResult(askedOf(asked), new BlockMemory(), 0)
  for (let at = 0; at < bytes.length; at += 7) {
    const found = long.push(bytes.subarray(at, at + 7))
    if (found) return found.check
  }
  return long.end()?.check ?? null
}

function askedOf({ checks, block }: Classification) {
  return { checks, block, upstream: 'a', skipVerifications: [], horizon: () => null }
}
