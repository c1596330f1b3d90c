// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { toTimeMs } from './status.ts'

describe('toTimeMs', () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4, 5)
  it.each<[string, unknown, number | null]>([
    ['Ethereum: seconds in hex', `0x${(atMs / 1_000).toString(16)}`, atMs],
    ['Bitcoin: seconds', atMs / 1_000, atMs],
    ['seconds as text', String(atMs / 1_000), atMs],
    ['milliseconds', atMs, atMs],
    ['Aptos: microseconds as text', `${atMs}000`, atMs],
    ['nanoseconds', `${atMs}000000`, atMs],
    ['CometBFT: RFC 3339', '2026-01-02T03:04:05.000000000Z', atMs],
    ['with an offset', '2026-01-02T04:04:05+01:00', atMs],
    ['zero', '0x0', null],
    ['no time', 'yesterday', null],
    ['an object', {}, null],
    ['nothing', null, null],
  ])('%s', (_name, value, wanted) => {
    const got = toTimeMs(value)
    if (wanted === null) expect(got).toBeNull()
    else expect(got).toBeCloseTo(wanted, -1)
  })
})
