// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

/** @returns counts one event, and calls `over` beyond `count` events within `inMs` */
export function floodOf(
  clock: Pick<Clock, 'nowMs'>,
  { count, inMs }: { readonly count: number; readonly inMs: number },
  over: () => void,
): () => void {
  let events = 0
  let sinceMs = clock.nowMs()
  return () => {
    if (++events <= count) return
    const nowMs = clock.nowMs()
    if (nowMs - sinceMs < inMs) over()
    events = 0
    sinceMs = nowMs
  }
}
