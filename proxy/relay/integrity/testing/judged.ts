// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ethereum } from '../../testing/relay-fixture.ts'
import { BlockMemory } from '../block-memory.ts'
import { findViolation } from '../find-violation.ts'
import type { Violation } from '../violation.ts'

const { iface } = await ethereum()

/** What the checks of the Ethereum spec find in a result, given as JSON or as a value. */
export function judged(
  method: string,
  params: unknown,
  result: unknown,
  {
    upstream = 'a',
    memory = new BlockMemory(),
    skipVerifications = [],
  }: { upstream?: string; memory?: BlockMemory; skipVerifications?: string[] } = {},
): Violation | null {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  // Something around it, so that a check that runs past the end is noticed.
  const bytes = Buffer.from(`{"result": ${text} ,"id":1}`)
  const span = { start: 11, end: 11 + Buffer.byteLength(text) }
  const { checks, block } = iface.classify({ apiInterface: 'jsonrpc', method, params })
  return findViolation(bytes, span, { checks, block, upstream, skipVerifications }, memory)
}

/** A hash of 64 times the same digit. */
export function hashOf(digit: string): string {
  return `0x${digit.repeat(64)}`
}
