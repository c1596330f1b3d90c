// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { canonical, type Json } from '../../json/canonical-json.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Topic, TopicRequest } from '../subscriptions.ts'
import { drawBytes, type SubscriptionForm } from '../form.ts'

/** Topics that a client can subscribe to. */
const topics: ReadonlySet<string> = new Set([
  'account',
  'block',
  'logs',
  'program',
  'root',
  'signature',
  'slot',
  'slotsUpdates',
  'vote',
])
/** A notification that Solana's libraries send every 5 s. No node has such a method. */
const keepAlive = 'ping'
const pattern = /^(\w+?)(Subscribe|Unsubscribe)$/

/** Solana: a pair of methods for each topic, and integer ids. */
export const solanaForm: SubscriptionForm = {
  opens(method) {
    const [, name = '', verb] = pattern.exec(method) ?? []
    return verb === 'Subscribe' && topics.has(name)
  },
  read(question) {
    const { method, params } = question
    if (method === keepAlive) return { kind: 'keep-alive' }
    const [, name = '', verb] = pattern.exec(method) ?? []
    if (!topics.has(name)) return null
    if (verb === 'Subscribe') return { kind: 'subscribe', topic: topicOf(name, params), question }
    const [id] = Array.isArray(params) ? (params as readonly unknown[]) : []
    if (!Number.isSafeInteger(id))
      throw new RelayError(errorKinds.invalidParams, `${method}: the first parameter is the id`)
    return { kind: 'unsubscribe', handle: `${name} ${String(id)}` }
  },
  name({ topic: { name } }, random) {
    const json = String(drawBytes(random, 6).readUIntBE(0, 6))
    return { json, handle: `${name} ${json}` }
  },
  subscribed: ({ json }) => json,
  unsubscribed: 'true',
  envelope: ({ topic: { name } }, { json }) => ({
    head: Buffer.from(`{"jsonrpc":"2.0","method":"${name}Notification","params":{"result":`),
    tail: Buffer.from(`,"subscription":${json}}}`),
  }),
}

function topicOf(name: string, rawParams: unknown): Topic {
  const list = Array.isArray(rawParams) ? (rawParams as readonly unknown[]) : []
  const params = list.slice(0, list.findLastIndex((each) => each !== null) + 1)
  return {
    // No known node accepts a parameter here, so leave the decision to the node.
    sequence: name === 'slot' && params.length === 0 ? 'slot' : null,
    key: canonical([name, ...params] as Json),
    name,
    isLast: name === 'signature' ? endsSignature : undefined,
    ...subscribeRequest(name, params),
  }
}

export function subscribeRequest(name: string, params: readonly unknown[]): TopicRequest {
  const unsubscribe = (id: unknown) => ({ method: `${name}Unsubscribe`, params: [id] })
  return { method: `${name}Subscribe`, params, unsubscribe }
}

/** Whether the signature is settled. A receipt is only the first of two events. */
function endsSignature(result: Uint8Array): boolean {
  return !Buffer.from(result).includes('"receivedSignature"')
}
