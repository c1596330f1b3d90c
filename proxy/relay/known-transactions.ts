// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { rememberedLimits } from '../bytes/limits.ts'
import { paramsOf } from './call-key.ts'
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/** What a node that accepted a transaction answered. */
interface Success {
  readonly status: number
  readonly result: unknown
}

/** What replicas share. What fails is as if it were not there. */
export interface SentStore {
  get(key: string): Promise<{ readonly value?: Uint8Array | undefined }>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
}

/** A client sends a transaction again within minutes. */
const sharedMs = 600_000

/**
 * Answers of nodes that accepted a transaction lately, at this replica or another one. A client that lost the answer
 * sends its transaction again. Nodes then answer that they know it, or that its nonce is used: the first answer
 * is the better one.
 */
export class KnownTransactions {
  readonly #successes = new Map<string, Success>()
  readonly #store: SentStore | null
  readonly #scope: string

  /** @param scope names of different chains differ */
  constructor(store: SentStore | null = null, scope = '') {
    this.#store = store
    this.#scope = scope
  }

  accepted(call: Call, reply: Reply): void {
    const key = transactionKey(call, this.#scope)
    const success = successOf(call, reply)
    if (key === null || success === null) return
    // Other nodes accept it, too.
    const isNew = !this.#successes.delete(key)
    this.#successes.set(key, success)
    const [oldest] = this.#successes.keys()
    if (this.#successes.size > rememberedLimits.transactions)
      this.#successes.delete(oldest as string)
    if (!isNew || this.#store === null) return
    const value = Buffer.from(JSON.stringify(success))
    void this.#store.set(key, value, sharedMs).catch(() => {})
  }

  /** A success in place of a refusal, where the transaction was accepted at this replica; else null. */
  successFor(call: Call, reply: Reply): Reply | null {
    const success = isSeen(reply) && this.#successes.get(transactionKey(call, this.#scope) ?? '')
    return success ? replyWith(success, call, reply) : null
  }

  /** The reply, or a success in its place where the transaction was accepted at another replica. */
  async shared(call: Call, reply: Reply): Promise<Reply> {
    const key = this.#store && isSeen(reply) ? transactionKey(call, this.#scope) : null
    if (key === null) return reply
    const found = await this.#store?.get(key).catch(() => null)
    const success = found?.value && read(found.value)
    return success ? replyWith(success, call, reply) : reply
  }
}

/** Its node has the transaction, or had it. */
function isSeen({ refusal }: Reply): boolean {
  return refusal?.transaction === 'known' || refusal?.transaction === 'used'
}

/** Null when it is no success, or a long one. */
function successOf({ reader }: Call, { incoming }: Reply): Success | null {
  const { status, body } = incoming
  if (!(body instanceof Uint8Array) || body.length > rememberedLimits.transactionBytes) return null
  const finding = reader.read(incoming, true)
  const result = finding.kind === 'result' ? (finding.parsed ?? null) : null
  return result === null ? null : { status, result }
}

/** The same answer under the id of this call. */
function replyWith({ status, result }: Success, { reader }: Call, reply: Reply): Reply {
  const headers = ['content-type', 'application/json']
  const incoming = { status, headers, body: reader.write(result), trailers: () => [] }
  return { ...reply, incoming, refusal: null }
}

/** Equal for a transaction that is sent again, in whatever spelling; null for a stream, whose bytes are gone. */
function transactionKey(call: Call, scope: string): string | null {
  const sent = paramsOf(call)
  if (sent === null) return null
  const digest = createHash('sha256').update(`${call.method.name}\n${call.request.path}\n`)
  return `t:${scope}:${digest.update(sent).digest('base64')}`
}

function read(value: Uint8Array): Success | null {
  try {
    const { status, result } = JSON.parse(Buffer.from(value).toString()) as Success
    const isSuccess = Number.isInteger(status) && status >= 200 && status < 300
    return isSuccess && (result ?? null) !== null ? { status, result } : null
  } catch {
    return null
  }
}
