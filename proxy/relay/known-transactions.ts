// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/** Successes that are remembered; most are a hash of some 100 bytes. */
const maxRemembered = 4_096
/** A longer answer is not remembered. */
const maxBytes = 4_096

interface Success {
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

  accepted(call: Call, { incoming }: Reply): void {
    const { status, body } = incoming
    const key = keyOf(call)
    if (key === null || !(body instanceof Uint8Array) || body.length > maxBytes) return
    const finding = call.reader.read(incoming, true)
    const result = finding.kind === 'result' ? (finding.parsed ?? null) : null
    if (result === null) return
    this.#successes.delete(key)
    this.#successes.set(key, { status, result })
    const [oldest] = this.#successes.keys()
    if (this.#successes.size > maxRemembered) this.#successes.delete(oldest as string)
  }

  /** A success in place of a refusal, where the transaction is known to be accepted; else null. */
  successFor(call: Call, reply: Reply): Reply | null {
    const { refusal } = reply
    if (refusal?.transaction !== 'known' && refusal?.transaction !== 'used') return null
    const success = this.#successes.get(keyOf(call) ?? '')
    if (success === undefined) return null
    const incoming = {
      status: success.status,
      headers: ['content-type', 'application/json'],
      body: call.reader.write(success.result),
      trailers: () => [],
    }
    return { ...reply, incoming, refusal: null }
  }
}

/** Equal for a transaction that is sent again byte by byte; null for a stream, whose bytes are gone. */
function keyOf({ asked, request, payload }: Call): string | null {
  const sent = payload ?? request.body ?? ''
  if (typeof sent !== 'string' && !(sent instanceof Uint8Array)) return null
  const digest = createHash('sha256').update(`${asked.method}\n${request.path}\n`)
  return digest.update(sent).digest('base64')
}
