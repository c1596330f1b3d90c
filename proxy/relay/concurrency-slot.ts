// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Upstream } from '../upstream/upstream.ts'
import type { Body } from '../upstream/wire.ts'

/**
 * A concurrency slot of an upstream for one attempt. It is taken once the request is complete, so
 * that slow uploads do not block other clients, and freed when the answer ends.
 */
export class ConcurrencySlot {
  readonly #upstream: Pick<Upstream, 'usedSlots'>
  #state: 'none' | 'taken' | 'left' = 'none'

  constructor(upstream: Pick<Upstream, 'usedSlots'>, body: Body | null) {
    this.#upstream = upstream
    if (body === null || body instanceof Uint8Array || !body.whenWhole) this.#take()
    else body.whenWhole(() => this.#take())
  }

  #take(): void {
    if (this.#state !== 'none') return
    this.#state = 'taken'
    this.#upstream.usedSlots += 1
  }

  leave(): void {
    if (this.#state === 'taken') this.#upstream.usedSlots -= 1
    this.#state = 'left'
  }
}
