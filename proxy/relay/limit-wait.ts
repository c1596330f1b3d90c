// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import type { ChosenUrl } from '../upstream/candidates.ts'
import type { Journal } from './call.ts'
import type { Needs } from './needs.ts'
import type { RelayContext } from './relay-context.ts'

/** How long a call waits: a limit per second has let the next calls through by then. */
const maxWaitMs = 1_100

/**
 * Lets a call wait when only limits of URLs keep it from being served. Calls wait for a URL in a
 * queue, which lets each of them send in its turn, so waiting calls do not wake at once.
 */
export class LimitWait {
  readonly #context: RelayContext
  readonly #needs: Needs
  #untilMs: number | null = null
  #cancel: Cancel | null = null

  constructor(context: RelayContext, needs: Needs) {
    this.#context = context
    this.#needs = needs
  }

  /**
   * @param run called when the wait is over: with the URL to use, or null to select again
   * @returns whether the call waits
   */
  begin(
    { deadlineMs }: Pick<Journal, 'deadlineMs'>,
    nowMs: number,
    run: (chosen: ChosenUrl | null, nowMs: number) => void,
  ): boolean {
    if (this.#cancel) return true
    const { pool, clock } = this.#context
    const found = pool.pick.nextAtLimit(this.#needs)
    const limit = found?.url.limit
    if (!limit) return false
    this.#untilMs ??= Math.min(nowMs + maxWaitMs, deadlineMs)
    const leftMs = this.#untilMs - nowMs
    const { waitMs } = limit
    if (leftMs <= 0 || (waitMs > leftMs && waitMs !== Infinity)) return false
    const end = (chosen: ChosenUrl | null) => {
      this.#cancel = null
      run(chosen, clock.nowMs())
    }
    const leave = limit.whenFree(() => {
      stop()
      // A cooldown may have begun.
      end(found.url.serves(this.#needs.addons) ? found : null)
    })
    const stop = clock.after(leftMs, () => {
      leave()
      end(null)
    })
    this.#cancel = () => {
      stop()
      leave()
    }
    return true
  }

  cancel(): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
