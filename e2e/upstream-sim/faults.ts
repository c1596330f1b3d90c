// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../../proxy/clock/random.ts'
import type { RpcCall } from './json-rpc.ts'

/** A call that a test answers with a forged reply. */
type Forged = RpcCall & { readonly id: unknown; readonly params: readonly unknown[] }

/** A fault in the answer to one call. Each batch item is a separate draw. */
export type AnswerFault =
  /** The reply has an id that the client did not send. */
  | { readonly kind: 'wrong-id' }
  | { readonly kind: 'null-result' }
  /** A JSON-RPC error with HTTP 200, such as `quota`. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** A wrong answer. `forge` returns the text of the reply, or null for the honest reply. */
  | { readonly kind: 'forged'; readonly forge: (call: Forged, honest: string) => string | null }

/** A transport fault. One draw applies to the whole request. */
export type WireFault =
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Accepts the request and never answers, until the node stops. */
  | { readonly kind: 'hang' }
  /** TCP reset, before the first byte or after the head and half the body. */
  | { readonly kind: 'reset'; readonly when: 'before-head' | 'after-head' }
  /** Half a body, then a close: the content length or the last chunk is never reached. */
  | { readonly kind: 'half-body'; readonly framing: 'content-length' | 'chunked' }
  /** HTTP 429. `retryAfter`: seconds, or a date. */
  | { readonly kind: 'rate-limit'; readonly retryAfter?: number | Date }
  /** Any other HTTP status, with a gateway's body. `retryAfter` is the value of the header. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body: 'json-rpc' | 'html' | 'empty'
      readonly retryAfter?: string
    }
  | { readonly kind: 'empty-body' }
  | { readonly kind: 'invalid-json' }
  /** A valid reply in gzip, whether or not the client accepts it. */
  | { readonly kind: 'gzip' }

export type Fault = AnswerFault | WireFault

/** When a fault applies. Default: always. */
export interface FaultRule {
  /** Applies only to requests that call one of these methods. */
  readonly methods?: readonly string[]
  /** Applies at most this many times. */
  readonly times?: number
  /** Share of cases, from 0 to 1, drawn from the node's seed. */
  readonly probability?: number
}

interface Active {
  readonly fault: Fault
  readonly rule: FaultRule
  left: number
}

const answerKinds = new Set<Fault['kind']>(['wrong-id', 'null-result', 'error', 'forged'])

/** A provider's error for an exhausted quota, with HTTP 200. */
export const quota: AnswerFault = {
  kind: 'error',
  code: -32005,
  message: 'daily request count exceeded, request rate limited',
}

/** The faults of one node, which a test may change while the node runs. */
export class FaultSwitch {
  readonly #random: Random
  readonly #active = new Set<Active>()

  constructor(random: Random) {
    this.#random = random
  }

  /** Adds a fault. @returns a function that removes it */
  add(fault: Fault, rule: FaultRule = {}): () => void {
    const active = { fault, rule, left: rule.times ?? Infinity }
    this.#active.add(active)
    return () => this.#active.delete(active)
  }

  clear(): void {
    this.#active.clear()
  }

  /** Draws the answer faults of a call. */
  drawForCall(method: string): AnswerFault[] {
    return this.#draw([method], (fault) => answerKinds.has(fault.kind)) as AnswerFault[]
  }

  /** Draws the wire faults of a request with these methods. */
  drawForRequest(methods: readonly string[]): WireFault[] {
    return this.#draw(methods, (fault) => !answerKinds.has(fault.kind)) as WireFault[]
  }

  #draw(methods: readonly string[], wanted: (fault: Fault) => boolean): Fault[] {
    const struck: Fault[] = []
    for (const active of this.#active) {
      const { fault, rule } = active
      if (!wanted(fault)) continue
      if (rule.methods && !rule.methods.some((method) => methods.includes(method))) continue
      if (rule.probability !== undefined && this.#random.next() >= rule.probability) continue
      struck.push(fault)
      if (--active.left <= 0) this.#active.delete(active)
    }
    return struck
  }
}
