// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, deadline, nextTurn, type Random } from './clock.ts'
import { ApiError, isForbidden, TimeoutError } from './errors.ts'
import type { KubeObserver, Reconciled, ReconcileResult } from './observer.ts'
import { WorkQueue } from './work-queue.ts'

export interface ReconcileContext {
  /** Aborts when the controller stops or the timeout expires. */
  readonly signal: AbortSignal
  /** Consecutive failures of the key so far. */
  readonly failures: number
}

/** Result of a successful reconcile. */
export interface Outcome {
  /** Reconciles again after this time even if nothing changes. */
  readonly requeueAfterMs?: number
}

export interface ControllerOptions {
  /** For metrics and logs. */
  readonly name: string
  /**
   * Brings the objects of one key to the desired state, based on the current content of the stores.
   * After an error, the controller retries with growing delays.
   */
  readonly reconcile: (key: string, context: ReconcileContext) => Promise<Outcome | void>
  readonly clock: Clock
  readonly random: Random
  /** Number of keys to reconcile concurrently. Default: 4. */
  readonly workers?: number
  /** Timeout of one reconcile. Default: two minutes. */
  readonly timeoutMs?: number
  /** Changes within this time of the first one cause one reconcile. Default: 100 ms. */
  readonly settleMs?: number
  readonly observer?: KubeObserver
}

/**
 * Forbidden attempts that do not count as failures yet: about five seconds. The API server learns
 * of a new Role with a delay, and a namespace that is being deleted loses its Roles first.
 */
const quietAttempts = 10

/** Reconciles keys from a queue, level-triggered: a key says that something changed, not what. */
export class Controller {
  readonly #options: ControllerOptions
  readonly queue: WorkQueue

  constructor(options: ControllerOptions) {
    const { name, clock, observer } = options
    this.#options = options
    this.queue = new WorkQueue({ name, clock, ...(observer && { observer }) })
  }

  /** Reconciles the key soon. Calls in quick succession cause only one reconcile. */
  enqueue(key: string): void {
    this.queue.addAfter(key, this.#options.settleMs ?? 100)
  }

  /** Runs until the signal aborts. Resolves when the last reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.queue.shutDown()
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    const { workers = 4 } = this.#options
    await Promise.all(Array.from({ length: workers }, () => this.#work(signal)))
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(); key !== null; key = await this.queue.take()) {
      // A reconcile without work never yields. A thousand of them would block the event loop, and
      // with it watches, probes and lease renewals.
      await nextTurn(this.#options.clock)
      await this.#reconcile(key, signal)
      this.queue.done(key)
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { name, reconcile, clock, random, observer, timeoutMs = 120_000 } = this.#options
    const reconcileId = Math.floor(random.next() * 2 ** 48)
      .toString(16)
      .padStart(12, '0')
    const startedMs = clock.nowMs()
    const report = (result: ReconcileResult, error?: unknown) => {
      const durationMs = clock.nowMs() - startedMs
      const ended: Reconciled = { controller: name, key, reconcileId, result, durationMs }
      observer?.reconciled?.(error === undefined ? ended : { ...ended, error })
    }
    using limit = deadline(clock, timeoutMs, signal, () => {
      return new TimeoutError(`the reconcile of ${key} took longer than ${timeoutMs / 1000} s`)
    })
    try {
      const context = { signal: limit.signal, failures: this.queue.failuresOf(key) }
      const { requeueAfterMs } = (await reconcile(key, context)) ?? {}
      this.queue.forget(key)
      if (requeueAfterMs === undefined) return report('success')
      this.queue.addAfter(key, requeueAfterMs)
      report('requeue')
    } catch (error) {
      if (signal.aborted) return report('stopped', error)
      const isEarly = isForbidden(error) && this.queue.failuresOf(key) < quietAttempts
      const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null
      this.queue.addRateLimited(key, retryAfterMs ?? 0)
      report(limit.signal.aborted ? 'timeout' : isEarly ? 'retry' : 'error', error)
    }
  }
}
