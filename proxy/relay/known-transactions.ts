// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { rememberedLimits } from '../bytes/limits.ts'
import { canonicalParams } from '../json/canonical-params.ts'
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/** What a node that accepted a transaction answered. */
export interface Success {
  readonly status: number
  readonly result: unknown
}

/**
 * Answers of nodes that accepted a transaction lately. A client that lost the answer sends its
 * transaction again. Nodes then answer that they know it, or that its nonce is used: the first answer
 * is the better one.
 */
export class KnownTransactions {
  readonly #successes = new Map<string, Success>()

  accepted(call: Call, reply: Reply): void {
    const key = keyOf(call)
    const success = successOf(call, reply)
    if (key === null || success === null) return
    this.#successes.delete(key)
    this.#successes.set(key, success)
    const [oldest] = this.#successes.keys()
    if (this.#successes.size > rememberedLimits.transactions)
      this.#successes.delete(oldest as string)
  }

  /** A success in place of a refusal, where the transaction is known to be accepted; else null. */
  successFor(call: Call, reply: Reply): Reply | null {
    const success = isSeen(reply) && this.#successes.get(keyOf(call) ?? '')
    return success ? replyWith(success, call, reply) : null
  }
}

/** Its node has the transaction, or had it. */
export function isSeen({ refusal }: Reply): boolean {
  return refusal?.transaction === 'known' || refusal?.transaction === 'used'
}

/** Null when it is no success, or a long one. */
export function successOf({ reader }: Call, { incoming }: Reply): Success | null {
  const { status, body } = incoming
  if (!(body instanceof Uint8Array) || body.length > rememberedLimits.transactionBytes) return null
  const finding = reader.read(incoming, true)
  const result = finding.kind === 'result' ? (finding.parsed ?? null) : null
  return result === null ? null : { status, result }
}

/** The same answer under the id of this call. */
export function replyWith({ status, result }: Success, { reader }: Call, reply: Reply): Reply {
  const headers = ['content-type', 'application/json']
  const incoming = { status, headers, body: reader.write(result), trailers: () => [] }
  return { ...reply, incoming, refusal: null }
}

/** Equal for a transaction that is sent again, in whatever spelling; null for a stream, whose bytes are gone. */
export function keyOf({ asked, request, payload }: Call): string | null {
  const sent = (payload && canonicalParams(payload)) ?? payload ?? request.body ?? ''
  if (typeof sent !== 'string' && !(sent instanceof Uint8Array)) return null
  const digest = createHash('sha256').update(`${asked.method}\n${request.path}\n`)
  return digest.update(sent).digest('base64')
}
