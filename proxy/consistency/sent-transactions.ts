// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import { isSeen, keyOf, replyWith, type Success, successOf } from '../relay/known-transactions.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'

/** Keys that replicas share. What fails is as if it were not there. */
export interface SentStore {
  get(key: string): Promise<{ readonly value?: Uint8Array | undefined }>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
}

/** A client sends a transaction again within minutes. */
const keptMs = 600_000

/**
 * A relay that answers a transaction that was sent through another replica before as that one did, where nodes
 * now say that they know it. @param chain names of different chains differ
 */
export function withSentTransactions(relay: Relay, store: SentStore | null, chain: string): Relay {
  if (store === null) return relay
  return (call) => (call.asked.kind === 'write' ? send(call) : relay(call))

  async function send(call: Call): Promise<Reply> {
    const reply = await relay(call)
    const digest = keyOf(call)
    if (digest === null || !store) return reply
    const key = `t:${chain}:${digest}`
    if (reply.refusal === null) {
      const success = successOf(call, reply)
      if (success) void store.set(key, Buffer.from(JSON.stringify(success)), keptMs).catch(() => {})
      return reply
    }
    if (!isSeen(reply)) return reply
    const { value } = await store.get(key).catch(() => ({ value: undefined }))
    const success = value && read(value)
    return success ? replyWith(success, call, reply) : reply
  }
}

function read(value: Uint8Array): Success | null {
  try {
    const { status, result } = JSON.parse(Buffer.from(value).toString()) as Partial<Success>
    return typeof status === 'number' && result !== undefined ? { status, result } : null
  } catch {
    return null
  }
}
