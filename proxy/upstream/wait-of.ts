// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fieldAt, messagesAt } from '../chain/proto-field.ts'
import { header, type HeaderList } from './wire.ts'

/** Larger values of `x-ratelimit-reset` are seconds since the epoch, and still larger ones ms. */
const epochFrom = { seconds: 1e9, ms: 1e12 } as const

/**
 * How long a node that refuses a request asks to wait, by its headers or gRPC metadata. Headers
 * that a node also sends with other answers count only if nothing remains of their limit.
 * @returns milliseconds from now, 0 for a time in the past; null if it does not say
 */
export function waitOf(headers: HeaderList, wallMs: number): number | null {
  const value = (name: string) => header(headers, name)
  const limits = [value('ratelimit-remaining'), value('x-ratelimit-remaining')]
  const isUsedUp = limits.every((left) => left === null || Number(left) === 0)
  return (
    parseRetryAfter(value('retry-after'), wallMs) ??
    parseRetryAfter(value('x-ratelimit-retry-after'), wallMs) ??
    msOf(value('grpc-retry-pushback-ms'), 1) ??
    retryInfo(value('grpc-status-details-bin')) ??
    ratelimit(value('ratelimit')) ??
    (isUsedUp ? msOf(value('ratelimit-reset'), 1_000) : null) ??
    (isUsedUp ? reset(value('x-ratelimit-reset'), wallMs) : null)
  )
}

/** Seconds, which some providers write as a fraction, or an HTTP date. */
function parseRetryAfter(value: string | null, wallMs: number): number | null {
  const text = value?.trim() ?? ''
  // `Date.parse` accepts nearly anything; an HTTP date ends with `GMT`.
  const atMs = text.endsWith('GMT') ? Date.parse(text) : NaN
  return Number.isNaN(atMs) ? msOf(text, 1_000) : Math.max(0, atMs - wallMs)
}

function msOf(value: string | null, unitMs: number): number | null {
  const text = value?.trim() ?? ''
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * unitMs : null
}

function reset(value: string | null, wallMs: number): number | null {
  const number = msOf(value, 1)
  if (number === null || number < epochFrom.seconds) return number && number * 1_000
  return Math.max(0, (number < epochFrom.ms ? number * 1_000 : number) - wallMs)
}

/**
 * `"default";r=0;t=5`, which some nodes send without the name, or `limit=100, remaining=0, reset=5`
 * of earlier drafts.
 */
function ratelimit(value: string | null): number | null {
  const text = value ?? ''
  const seconds = [
    ...text
      .split(',')
      .map((item) => /(?:^|;)\s*r=0\b/.test(item) && /(?:^|;)\s*t=(\d+)/.exec(item)?.[1]),
    /\bremaining=0\b/.test(text) && /\breset=(\d+)/.exec(text)?.[1],
  ]
  const all = seconds.filter((each) => typeof each === 'string').map(Number)
  return all.length === 0 ? null : Math.max(...all) * 1_000
}

/** The delay of `google.rpc.RetryInfo` among the details of a `google.rpc.Status`. */
function retryInfo(value: string | null): number | null {
  if (value === null) return null
  for (const detail of messagesAt(Buffer.from(value, 'base64'), 3)) {
    const type = fieldAt(detail, [1])
    if (typeof type !== 'string' || !type.endsWith('/google.rpc.RetryInfo')) continue
    const [seconds = 0, nanos = 0] = [fieldAt(detail, [2, 1, 1]), fieldAt(detail, [2, 1, 2])]
    if (typeof seconds === 'number' && typeof nanos === 'number')
      return seconds * 1_000 + nanos / 1e6
  }
  return null
}
