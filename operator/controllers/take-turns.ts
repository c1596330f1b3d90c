// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, nextTurn } from '../kube/clock.ts'
import type { Steps } from '../translate/steps.ts'

/** How long work may go on before the event loop has its turn: watches, probes, the renewal of the lease. */
const sliceMs = 20

/** Does long work without keeping others waiting. */
export async function takeTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  let sinceMs = clock.nowMs()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (clock.nowMs() - sinceMs < sliceMs) continue
    await nextTurn(clock)
    sinceMs = clock.nowMs()
  }
}
