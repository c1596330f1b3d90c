// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { waitOf } from './wait-of.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

describe('waitOf', () => {
  it.each([
    [null, null],
    ['7', 7_000],
    ['1.5', 1_500],
    ['0.25', 250],
    ['0.0', 0],
    ['1.5.5', null],
    ['1e3', null],
    ['9'.repeat(400), Infinity],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan 1 00:01:00 2026', null],
    ['2030-01-01T00:00:00Z', null],
    ['2030', 2_030_000],
    ['soon', null],
    ['-5', null],
    ['', null],
  ])('Retry-After: %s', (value, ms) => {
    expect(waitOf(value === null ? [] : ['Retry-After', value], now)).toBe(ms)
  })

  it.each<[string[], number | null]>([
    [['x-ratelimit-retry-after', '3'], 3_000],
    [['ratelimit-reset', '4'], 4_000],
    [['ratelimit-reset', '4', 'ratelimit-remaining', '0'], 4_000],
    [['ratelimit-reset', '4', 'ratelimit-remaining', '9'], null],
    [['ratelimit', '"default";r=0;t=5'], 5_000],
    [['ratelimit', '"burst";r=0;t=5, "day";r=100;t=5000'], 5_000],
    [['ratelimit', '"default";r=10;t=5'], null],
    [['ratelimit', 'r=0;t=5'], 5_000],
    [['ratelimit', 'r=3;t=5'], null],
    [['ratelimit', 't=5; r=0'], 5_000],
    [['ratelimit', 'limit=100, remaining=0, reset=6'], 6_000],
    [['ratelimit', 'limit=100, remaining=50, reset=6'], null],
    [['x-ratelimit-reset', '7'], 7_000],
    [['x-ratelimit-reset', '1767225608'], 8_000],
    [['x-ratelimit-reset', '1767225609000'], 9_000],
    [['x-ratelimit-reset', '1767225000'], 0],
    [['x-ratelimit-reset', '7', 'x-ratelimit-remaining', '12'], null],
    [['x-ratelimit-reset', 'soon'], null],
    [['x-ratelimit-reset', '7', 'retry-after', '1'], 1_000],
    [['grpc-retry-pushback-ms', '250'], 250],
    [['grpc-retry-pushback-ms', '-1'], null],
    [['grpc-status-details-bin', retryInfo(1, 500_000_000)], 1_500],
    [['grpc-status-details-bin', retryInfo(2)], 2_000],
    [['grpc-status-details-bin', retryInfo(3, undefined, 1)], 3_000],
    [['grpc-status-details-bin', 'AAAA'], null],
  ])('%j', (headers, ms) => {
    expect(waitOf(headers, now)).toBe(ms)
  })
})

/** A status with a delay, after other details. */
function retryInfo(seconds: number, nanos?: number, others = 0): string {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
  const field = (number: number, bytes: readonly number[]) => [
    number * 8 + 2,
    bytes.length,
    ...bytes,
  ]
  const delay = [8, ...varint(seconds), ...(nanos === undefined ? [] : [16, ...varint(nanos)])]
  const type = [...Buffer.from('type.googleapis.com/google.rpc.RetryInfo')]
  const detail = [...field(1, type), ...field(2, field(1, delay))]
  const info = field(1, [...Buffer.from('type.googleapis.com/google.rpc.ErrorInfo')])
  const before = Array.from({ length: others }, () => field(3, info)).flat()
  return Buffer.from([8, 8, ...before, ...field(3, detail)]).toString('base64')
}
