// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { FormQuestion, SubscribeWish, SubscriptionForm } from '../form.ts'
import type { Topic, TopicKind } from '../topic.ts'
import { readLogFilter, writeLogFilter } from './log-filter.ts'
import { takesOfRange } from './log-range.ts'
import { drawBytes } from './draw-bytes.ts'

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
  const wish = (kind: TopicKind, params: readonly unknown[]): SubscribeWish => ({
    kind: 'subscribe',
    topic: topic(kind, name, params),
    question,
  })
  if (name === 'newHeads' && more.length === 0) return wish('heads', [])
  if (name === 'logs' && more.length <= 1) {
    const criteria = readLogFilter(more[0])
    const takes = takesOfRange(criteria)
    return { ...wish('logs', [writeLogFilter(criteria)]), ...(takes ? { takes } : {}) }
  }
  if (name === 'newPendingTransactions' && more[0] === false && more.length === 1)
    return wish('live', [])
  return wish('live', more)
}

function topic(kind: TopicKind, name: string, more: readonly unknown[]): Topic {
  const params = [name, ...more]
  const isNamed = namedTopics.has(name)
  return {
    kind,
    key: canonicalJson(params),
    name: isNamed ? name : 'other',
    isNamed,
    method: subscribe,
    params,
    unsubscribe: (id) => ({ method: unsubscribe, params: [id] }),
    shared: null,
    isLast: null,
  }
}

function idOf(params: unknown): string {
  const [id] = Array.isArray(params) ? (params as readonly unknown[]) : []
  if (typeof id !== 'string') throw invalid(unsubscribe, 'the first parameter is the id')
  return id.toLowerCase()
}

function invalid(method: string, why: string): RelayError {
  return new RelayError(errorKinds.invalidParams, `${method}: ${why}`)
}
