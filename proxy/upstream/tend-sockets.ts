// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, type Clock } from '../clock/clock.ts'
import type { SocketUrl } from './node-url.ts'
import type { Upstream } from './upstream.ts'
import { verifyUrl, type VerifyUrlOptions } from './verify-url.ts'

const firstRetryMs = 1_000
const longestRetryMs = 30_000

export interface TendSocketsOptions extends VerifyUrlOptions {
  readonly healthCheckIntervalMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly jittered: (ms: number) => number
}

/** The WebSocket URLs of an upstream that serve no calls. */
export function ownSockets({ urls, sockets }: Upstream): readonly SocketUrl[] {
  return sockets.filter((socket) => !(urls as readonly unknown[]).includes(socket))
}

/**
 * Verifies WebSocket URLs like any others, at the start and at each health check, and those that do
 * not answer again and again: 1 s doubling to 30 s. What comes of it concerns subscriptions alone:
 * the upstream stands by its other URLs.
 */
export async function tendSockets(upstream: Upstream, options: TendSocketsOptions): Promise<void> {
  const { healthCheckIntervalMs, clock, signal, jittered } = options
  const sockets = ownSockets(upstream)
  let due = sockets
  for (let retryMs = firstRetryMs; ;) {
    await Promise.all(
      due.map((socket) => verifyUrl(upstream, socket, { ...options, servesCalls: false })),
    )
    const missing = sockets.filter(({ verified }) => verified !== true)
    if (missing.length === 0) {
      retryMs = firstRetryMs
      await sleep(clock, jittered(healthCheckIntervalMs), signal)
      due = sockets
    } else {
      await sleep(clock, jittered(retryMs), signal)
      retryMs = Math.min(retryMs * 2, longestRetryMs)
      due = missing
    }
  }
}
