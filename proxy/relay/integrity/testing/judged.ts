// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect } from 'vitest'
import type { Classification } from '../../../chain/types.ts'
import { ethereum } from '../../testing/relay-fixture.ts'
import { BlockMemory } from '../block-memory.ts'
import { findViolation, type Asked } from '../find-violation.ts'
import { LongResult } from '../long-result.ts'
import type { CheckName, Violation } from '../violation.ts'

const { iface } = await ethereum()
/** Longer results are not looked at in pieces as well, which takes its time. */
const mostInPieces = 20_000

export interface JudgedOptions {
  readonly upstream?: string
  readonly memory?: BlockMemory
  readonly skipVerifications?: string[]
  readonly horizon?: number
}

/** What the checks of the Ethereum spec find in a result, given as JSON or as a value. */
export function judged(
  method: string,
  params: unknown,
  result: unknown,
  options: JudgedOptions = {},
): Violation | null {
  return judgedAs(classified(method, params), result, options)
}

/** What the Ethereum spec says of a request. */
export function classified(method: string, params: unknown): Classification {
  return iface.classify({ apiInterface: 'jsonrpc', method, params })
}

/** The same by the checks of any spec. */
export function judgedAs(
  { checks, block }: Classification,
  result: unknown,
  options: JudgedOptions = {},
): Violation | null {
  const {
    upstream = 'a',
    memory = new BlockMemory(),
    skipVerifications = [],
    horizon = null,
  } = options
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  // Something around it, so that a check that runs past the end is noticed.
  const bytes = Buffer.from(`{"result": ${text} ,"id":1}`)
  const span = { start: 11, end: 11 + Buffer.byteLength(text) }
  const asked = { checks, block, upstream, skipVerifications, horizon: () => horizon }
  const found = findViolation(bytes, span, asked, memory)
  // What is far apart is not compared in pieces, and a memory hears what is told once.
  const isFarApart = found?.evidence.includes('is doubled') ?? false
  // What is only doubted is passed on, of two spellings one is kept, and of many keys not all.
  const isPassedOn = found && (!found.certain || /two spellings|not there/.test(found.evidence))
  if (!options.memory && !isFarApart && !isPassedOn && bytes.length < mostInPieces)
    expectTheSameInPieces(bytes.subarray(span.start, span.end), asked, found?.check ?? null)
  return found
}

/** In whatever pieces a long result comes, the same is found as in a short one. */
function expectTheSameInPieces(bytes: Uint8Array, asked: Asked, check: CheckName | null): void {
  for (const windowBytes of [0, Infinity])
    for (const pieceBytes of [7, Infinity]) {
      const found = judgedLong(bytes, asked, windowBytes, pieceBytes)
      expect([windowBytes, pieceBytes, found?.check ?? null]).toEqual([
        windowBytes,
        pieceBytes,
        check,
      ])
    }
}

/** What is found when the result comes in pieces of so many bytes, and is handed on in windows. */
function judgedLong(
  bytes: Uint8Array,
  asked: Asked,
  windowBytes: number,
  pieceBytes: number,
): Violation | null {
  const result = new LongResult(asked, new BlockMemory(), windowBytes)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const found = result.push(bytes.subarray(at, at + pieceBytes))
    if (found) return found
    const isHalf = at < bytes.length / 2 && at + pieceBytes >= bytes.length / 2
    const begun = isHalf ? result.checkBeginning() : null
    if (begun) return begun
  }
  return result.end()
}

/** A hash of 64 times the same digit. */
export function hashOf(digit: string): string {
  return `0x${digit.repeat(64)}`
}
