// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../kube/clock.ts'

/** How long nothing new must come before pods are replaced, and how long that may put it off. */
const rollout = { quietMs: 1_000, mostMs: 10_000 }
/** The same before the first pods: nobody is served yet. */
const creation = { quietMs: 500, mostMs: 5_000 }

interface Waiting {
  readonly template: string
  readonly sinceMs: number
  readonly changedMs: number
  /** The wait for this template is over, whatever becomes of its apply. */
  readonly isOver: boolean
}

/** Puts a rollout off until changes have ceased, so that one `kubectl apply` of many objects is one rollout. */
export class RolloutDelay {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #waiting = new Map<string, Waiting>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /**
   * How long the pods of a router still wait for a template, in milliseconds; 0 when it may be applied.
   *
   * @param template tells templates apart
   * @param isFirst the router has no pods yet
   */
  leftMs(router: string, template: string, isFirst: boolean): number {
    const { quietMs, mostMs } = isFirst ? creation : rollout
    const nowMs = this.#clock.nowMs()
    const known = this.#waiting.get(router)
    const isSame = known?.template === template
    if (isSame && known.isOver) return 0
    const sinceMs = known === undefined || known.isOver ? nowMs : known.sinceMs
    const changedMs = isSame ? known.changedMs : nowMs
    const leftMs = Math.max(0, Math.min(changedMs + quietMs, sinceMs + mostMs) - nowMs)
    this.#waiting.set(router, { template, sinceMs, changedMs, isOver: leftMs === 0 })
    return leftMs
  }

  /** There is nothing to wait for. */
  forget(router: string): void {
    this.#waiting.delete(router)
  }
}
