// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, nextTurn } from '../kube/clock.ts'
import type { Steps } from '../translate/steps.ts'

/** How long work may go on before the event loop has its turn: watches, probes, the renewal of the lease. */
const sliceMs = 20

/**
 * Does long work without keeping others waiting.
 *
 * @throws the reason of the signal, once that is aborted: what is left is not done
 */
export async function takeTurns<T>(steps: Steps<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  let sinceMs = clock.nowMs()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (clock.nowMs() - sinceMs < sliceMs) continue
    await nextTurn(clock)
    signal.throwIfAborted()
    sinceMs = clock.nowMs()
  }
}
