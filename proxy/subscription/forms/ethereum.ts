// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Topic, TopicRequest } from '../subscriptions.ts'
import {
  canonicalJson,
  drawBytes,
  type FormQuestion,
  type SubscribeWish,
  type SubscriptionForm,
} from './form.ts'
import { hasRange, readLogFilter } from './log-filter.ts'

const subscribe = 'eth_subscribe'
const unsubscribe = 'eth_unsubscribe'
/** Others are as well, but strangers do not name metrics. */
const namedTopics: ReadonlySet<string> = new Set([
  'newHeads',
  'logs',
  'newPendingTransactions',
  'syncing',
])

/** `eth_subscribe`: one method for all topics, ids in hex. */
export const ethereumForm: SubscriptionForm = {
  opens: (method) => method === subscribe,
  read(question) {
    const { method, params } = question
    if (method === subscribe) return wishOf(question)
    if (method === unsubscribe) return { kind: 'unsubscribe', handle: idOf(params) }
    return null
  },
  name(_wish, random) {
    const id = `0x${drawBytes(random, 16).toString('hex').replace(/^0+/, '')}`
    return { json: `"${id}"`, handle: id }
  },
  subscribed: ({ json }) => json,
  unsubscribed: 'true',
  envelope: (_wish, { json }) => ({
    head: Buffer.from(
      `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":${json},"result":`,
    ),
    tail: Buffer.from('}}'),
  }),
}

function wishOf(question: FormQuestion): SubscribeWish {
  const { params } = question
  const [name, ...rest] = Array.isArray(params) ? (params as readonly unknown[]) : []
  if (typeof name !== 'string') throw invalid(subscribe, 'the first parameter names what to hear')
  // Some clients write the parameters that they do not have.
  const more = rest.slice(0, rest.findLastIndex((each) => each !== null) + 1)
  const wish = (topic: Topic): SubscribeWish => ({ kind: 'subscribe', topic, question })
  if (name === 'newHeads' && more.length === 0) return wish(topicOf(name, [], 'newHeads'))
  // Which blocks are in a range is for the node to say.
  if (name === 'logs' && more.length <= 1 && !hasRange(more[0])) {
    const filter = readLogFilter(more[0])
    return wish(topicOf(name, [filter], 'newHeads', filter))
  }
  if (name === 'newPendingTransactions' && more[0] === false && more.length === 1)
    return wish(topicOf(name, []))
  return wish(topicOf(name, more))
}

function topicOf(
  name: string,
  more: readonly unknown[],
  sequence: string | null = null,
  logFilter?: object,
): Topic {
  const params = [name, ...more]
  const isNamed = namedTopics.has(name)
  return {
    sequence,
    logFilter,
    key: canonicalJson(params),
    name: isNamed ? name : 'other',
    mayHoldKeys: !isNamed,
    ...subscribeRequest(params),
  }
}

export function subscribeRequest(params: readonly unknown[]): TopicRequest {
  return { method: subscribe, params, unsubscribe: (id) => ({ method: unsubscribe, params: [id] }) }
}

function idOf(params: unknown): string {
  const [id] = Array.isArray(params) ? (params as readonly unknown[]) : []
  if (typeof id !== 'string') throw invalid(unsubscribe, 'the first parameter is the id')
  return id.toLowerCase()
}

function invalid(method: string, why: string): RelayError {
  return new RelayError(errorKinds.invalidParams, `${method}: ${why}`)
}
