// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { rememberedLimits } from '../bytes/limits.ts'
import { paramsOf } from './call-key.ts'
import type { Call } from './call.ts'
import type { Reply } from './reply.ts'

/** Answer of a node that accepted a transaction. */
interface Success {
  readonly status: number
  readonly result: unknown
}

/** The store that replicas share. Failures are treated as missing values. */
export interface SentStore {
  get(key: string): Promise<{ readonly value?: Uint8Array | undefined }>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
}

/** Clients resend a transaction within minutes. */
const sharedMs = 600_000

/**
 * Recent successes of writes, at this replica or another one. A client that lost the answer resends
 * its transaction, and nodes then report it as known or its nonce as used. The client gets the
 * first answer instead.
 */
export class KnownTransactions {
  readonly #successes = new Map<string, Success>()
  readonly #store: SentStore | null
  readonly #scope: string

  /** @param scope unique per chain */
  constructor(store: SentStore | null = null, scope = '') {
    this.#store = store
    this.#scope = scope
  }

  accepted(call: Call, reply: Reply): void {
    const key = transactionKey(call, this.#scope)
    const success = successOf(call, reply)
    if (key === null || success === null) return
    // Other nodes of the broadcast may have accepted it already.
    const isNew = !this.#successes.delete(key)
    this.#successes.set(key, success)
    const [oldest] = this.#successes.keys()
    if (this.#successes.size > rememberedLimits.transactions)
      this.#successes.delete(oldest as string)
    if (!isNew || this.#store === null) return
    const value = Buffer.from(JSON.stringify(success))
    void this.#store.set(key, value, sharedMs).catch(() => {})
  }

  /** The stored success, if this replica saw the transaction accepted; otherwise null. */
  successFor(call: Call, reply: Reply): Reply | null {
    const success = isKnown(reply) && this.#successes.get(transactionKey(call, this.#scope) ?? '')
    return success ? replyWith(success, call, reply) : null
  }

  /** The reply, or the success that another replica stored for the transaction. */
  async shared(call: Call, reply: Reply): Promise<Reply> {
    const key = this.#store && isKnown(reply) ? transactionKey(call, this.#scope) : null
    if (key === null) return reply
    const found = await this.#store?.get(key).catch(() => null)
    const success = found?.value && read(found.value)
    return success ? replyWith(success, call, reply) : reply
  }
}

/** Whether the node has, or had, the transaction. */
function isKnown({ refusal }: Reply): boolean {
  return ['pending', 'known', 'used'].includes(refusal?.transaction ?? '')
}

/** Null if the reply is no success or too long to store. */
function successOf({ reader }: Call, { incoming }: Reply): Success | null {
  const { status, body } = incoming
  if (!(body instanceof Uint8Array) || body.length > rememberedLimits.transactionBytes) return null
  const content = reader.read(incoming, true)
  const result = content.kind === 'result' ? (content.parsed ?? null) : null
  return result === null ? null : { status, result }
}

/** The stored answer with the id of this call. */
function replyWith({ status, result }: Success, { reader }: Call, reply: Reply): Reply {
  const headers = ['content-type', 'application/json']
  const incoming = { status, headers, body: reader.write(result), trailers: () => [] }
  return { ...reply, incoming, refusal: null }
}

/** Equal for a resent transaction in any spelling; null for a stream, which is read only once. */
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
