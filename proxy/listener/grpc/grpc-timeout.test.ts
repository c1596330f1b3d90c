// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseGrpcTimeout } from './grpc-timeout.ts'

const cases: [string, number | null][] = [
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['30S', 30_000],
  ['99999999m', 99_999_999],
  ['500u', 0.5],
  ['1000000n', 1],
  ['0m', 0],
  ['', null],
  ['5', null],
  ['5s', null],
  ['-5S', null],
  ['1.5S', null],
  ['123456789m', null],
]
test.each(cases)('%s is %s ms', (text, ms) => {
  expect(parseGrpcTimeout(text)).toBe(ms)
})
