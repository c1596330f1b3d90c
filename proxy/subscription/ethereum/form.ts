// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { canonical, type Json } from '../../json/canonical-json.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Topic, TopicRequest } from '../subscriptions.ts'
import { drawBytes, type FormRequest, type SubscribeWish, type SubscriptionForm } from '../form.ts'

const subscribe = 'eth_subscribe'
const unsubscribe = 'eth_unsubscribe'
/** Other topics also work, but text from clients must not name metrics. */
const namedTopics: ReadonlySet<string> = new Set([
  'newHeads',
  'logs',
  'newPendingTransactions',
  'syncing',
])

const maxTopics = 4
const address = /^0x[0-9a-f]{40}$/i
const word = /^0x[0-9a-f]{64}$/i

/** `eth_subscribe`: one method for all topics, and ids in hex. */
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

function wishOf(question: FormRequest): SubscribeWish {
  const { params } = question
  const [name, ...rest] = Array.isArray(params) ? (params as readonly unknown[]) : []
  if (typeof name !== 'string') throw invalid(subscribe, 'the first parameter names the topic')
  // Some clients send null for absent parameters.
  const more = rest.slice(0, rest.findLastIndex((each) => each !== null) + 1)
  const wish = (topic: Topic): SubscribeWish => ({ kind: 'subscribe', topic, question })
  if (name === 'newHeads' && more.length === 0) return wish(topicOf(name, [], 'newHeads'))
  // Only the node can interpret a block range.
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
    key: canonical(params as Json),
    name: isNamed ? name : 'other',
    mayHoldKeys: !isNamed,
    ...(/pending/i.test(name) && { place: null }),
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

/**
 * Reads a filter as nodes do: one address or a list; topics by position, each a value, a list or
 * null. An empty list, or a list with null, restricts nothing. A trailing null stays, because it
 * requires a topic in that position.
 * @returns one form for all equivalent filters: lower case, sorted, without duplicates
 * @throws RelayError if every node would reject the filter
 */
function readLogFilter(filter: unknown): object {
  if (filter === undefined || filter === null) return {}
  if (typeof filter !== 'object' || Array.isArray(filter))
    throw invalid(subscribe, 'the filter must be an object')
  const { blockHash, address: candidates, topics } = filter as Readonly<Record<string, unknown>>
  if ((blockHash ?? null) !== null)
    throw invalid(subscribe, 'a subscription has no "blockHash"; leave it out')
  const addresses = alternatives(candidates, address, 'an address is 20 bytes in hex')
  const positions = readTopics(topics)
  return {
    ...(addresses !== null && { address: addresses }),
    ...(positions.length > 0 && { topics: positions }),
  }
}

/** Whether the filter limits the blocks. go-ethereum's client sends an open range from 0x0. */
function hasRange(filter: unknown): boolean {
  const { fromBlock, toBlock } = (filter ?? {}) as Readonly<Record<string, unknown>>
  const isOpen = (value: unknown) => value === undefined || value === null || value === 'latest'
  return !isOpen(toBlock) || !(isOpen(fromBlock) || fromBlock === '0x0')
}

function readTopics(topics: unknown): readonly unknown[] {
  if (topics === undefined || topics === null) return []
  if (!Array.isArray(topics)) throw invalid(subscribe, '"topics" must be a list')
  if (topics.length > maxTopics) throw invalid(subscribe, `a log has at most ${maxTopics} topics`)
  return topics.map((each) => alternatives(each, word, 'a topic is 32 bytes in hex'))
}

/** Null means any value. A single value is unwrapped, because every node understands that. */
function alternatives(value: unknown, form: RegExp, why: string): string | string[] | null {
  if (value === undefined || value === null) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.includes(null)) return null
  const words = list.map((each) => {
    if (typeof each !== 'string' || !form.test(each)) throw invalid(subscribe, why)
    return each.toLowerCase()
  })
  const [first = '', ...others] = [...new Set(words)].toSorted()
  return others.length === 0 ? first : [first, ...others]
}

function invalid(method: string, why: string): RelayError {
  return new RelayError(errorKinds.invalidParams, `${method}: ${why}`)
}
