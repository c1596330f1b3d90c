// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises'

const timeoutMs = 35_000
const maxInFlight = 1_000

export interface Question {
  readonly method: string
  readonly params: readonly unknown[]
  /** Describes the error in a result; null if the result is right. */
  judge(result: unknown): string | null
}

/** Counts of one stretch of the load. */
export interface Stretch {
  readonly name: string
  requests: number
  failed: number
  readonly failures: Record<string, number>
  /** Number of answers for which the router used more than one upstream. */
  retried: number
  readonly byUpstream: Map<string, number>
  readonly latenciesMs: number[]
}

/**
 * Sends reads at a steady rate, whether or not earlier reads have answers, and checks each answer.
 * A refused connection, an HTTP error, a JSON-RPC error and a wrong result all count as failures.
 */
export class SteadyLoad {
  readonly stretches: Stretch[] = []
  readonly #url: string
  readonly #perSecond: number
  readonly #nextQuestion: () => Question
  readonly #isLast: () => boolean
  readonly #tickMs: number
  readonly #inFlight = new Set<Promise<void>>()

  /**
   * @param isLast whether a request is the last of its connection
   * @param tickMs time between bursts: longer ones need more connections, idle in between
   */
  constructor(
    url: string,
    perSecond: number,
    nextQuestion: () => Question,
    isLast: () => boolean = () => false,
    tickMs = 5,
  ) {
    this.#url = url
    this.#perSecond = perSecond
    this.#nextQuestion = nextQuestion
    this.#isLast = isLast
    this.#tickMs = tickMs
  }

  get requests(): number {
    return this.stretches.reduce((sum, stretch) => sum + stretch.requests, 0)
  }

  get failed(): number {
    return this.stretches.reduce((sum, stretch) => sum + stretch.failed, 0)
  }

  /** Starts a stretch: later requests count under this name. */
  enter(name: string): Stretch {
    const stretch: Stretch = {
      ...{ name, requests: 0, failed: 0, failures: {}, retried: 0 },
      byUpstream: new Map(),
      latenciesMs: [],
    }
    this.stretches.push(stretch)
    return stretch
  }

  /** Sends until the signal is aborted, then waits for outstanding answers. */
  async run(signal: AbortSignal): Promise<void> {
    const startedMs = performance.now()
    let sent = 0
    while (!signal.aborted) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * this.#perSecond)
      for (; sent < due && this.#inFlight.size < maxInFlight; sent++) {
        const one = this.#send(this.stretches.at(-1)!)
        this.#inFlight.add(one)
        void one.finally(() => this.#inFlight.delete(one))
      }
      await sleep(this.#tickMs)
      // A process that waited for the CPU must first read the closes of its idle connections.
      await afterReading()
    }
    await this.ended()
  }

  /** Resolves when all in-flight requests have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  async #send(stretch: Stretch): Promise<void> {
    const { method, params, judge } = this.#nextQuestion()
    const startedMs = performance.now()
    stretch.requests++
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(this.#isLast() && { connection: 'close' }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const reply = (await response.json()) as { result?: unknown; error?: { message: string } }
      stretch.latenciesMs.push(performance.now() - startedMs)
      const upstream = response.headers.get('rpc-provider-address') ?? '?'
      stretch.byUpstream.set(upstream, (stretch.byUpstream.get(upstream) ?? 0) + 1)
      if (Number(response.headers.get('rpc-retries') ?? 0) > 0) stretch.retried++
      const wrong =
        reply.error?.message ?? (response.ok ? judge(reply.result) : `HTTP ${response.status}`)
      if (wrong !== null) this.#fail(stretch, `${method}: ${wrong}`)
    } catch (error) {
      const { message, cause } = error as Error
      this.#fail(stretch, `${method}: ${cause instanceof Error ? cause.message : message}`)
    }
  }

  #fail(stretch: Stretch, reason: string): void {
    stretch.failed++
    stretch.failures[reason] = (stretch.failures[reason] ?? 0) + 1
  }
}

/** The percentile of the values at this share, from 0 to 1; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
