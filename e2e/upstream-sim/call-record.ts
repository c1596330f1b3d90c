// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingHttpHeaders } from 'node:http'

const keptRequests = 1_000

/** One HTTP request that a node received. */
export interface SeenRequest {
  /** Path with the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Methods in batch order. */
  readonly methods: readonly string[]
}

/** The requests that a node received, including those with faulty answers. */
export class CallRecord {
  readonly #byMethod = new Map<string, number>()
  #requests: SeenRequest[] = []
  #total = 0
  #unanswered = 0

  /** Number of HTTP requests since the start or the last `clear`. */
  get total(): number {
    return this.#total
  }

  /** Number of requests whose connection ended before the whole answer was sent. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** The newest requests, oldest first. */
  get requests(): readonly SeenRequest[] {
    return this.#requests
  }

  /** Number of calls of a method; each batch item counts. */
  count(method: string): number {
    return this.#byMethod.get(method) ?? 0
  }

  add(request: SeenRequest): void {
    this.#total++
    this.#requests.push(request)
    if (this.#requests.length > 2 * keptRequests)
      this.#requests = this.#requests.slice(-keptRequests)
    for (const method of request.methods) this.#byMethod.set(method, this.count(method) + 1)
  }

  addUnanswered(): void {
    this.#unanswered++
  }

  clear(): void {
    this.#total = 0
    this.#unanswered = 0
    this.#requests = []
    this.#byMethod.clear()
  }
}
