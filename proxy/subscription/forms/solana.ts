// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Topic } from '../subscriptions.ts'
import { canonicalJson, drawBytes, type SubscriptionForm } from './form.ts'

/** What can be subscribed to, and the sequence that it is made from; null: live. */
const sequences: Readonly<Record<string, string | null>> = {
  account: null,
  block: null,
  logs: null,
  program: null,
  root: 'root',
  signature: null,
  slot: 'slot',
  slotsUpdates: null,
  vote: null,
}
/** What the chain's libraries notify a node of every 5 s. No node has such a method. */
const keepAlive = 'ping'
const pattern = /^(\w+?)(Subscribe|Unsubscribe)$/
/** What a node assumes where nothing is said. */
const defaultCommitment = 'finalized'

/** Solana: a pair of methods for each topic, ids are integers. */
export const solanaForm: SubscriptionForm = {
  opens(method) {
    const [, name = '', verb] = pattern.exec(method) ?? []
    return verb === 'Subscribe' && Object.hasOwn(sequences, name)
  },
  read(question) {
    const { method, params } = question
    if (method === keepAlive) return { kind: 'keep-alive' }
    const [, name = '', verb] = pattern.exec(method) ?? []
    if (!Object.hasOwn(sequences, name)) return null
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

function topicOf(name: string, given: unknown): Topic {
  const list = Array.isArray(given) ? (given as readonly unknown[]).map(canonicalParam) : []
  const params = list.slice(0, list.findLastIndex((each) => each !== null) + 1)
  return {
    // With a parameter that no node knows it is not known what it means.
    sequence: params.length > 0 ? null : (sequences[name] ?? null),
    logFilter: null,
    key: canonicalJson([name, ...params]),
    name,
    isNamed: true,
    method: `${name}Subscribe`,
    params,
    unsubscribe: (id) => ({ method: `${name}Unsubscribe`, params: [id] }),
    shared: null,
    isLast: name === 'signature' ? endsSignature : null,
  }
}

/** Without what a node assumes anyway, and with filters, all of which must fit, in one order. */
function canonicalParam(param: unknown): unknown {
  if (typeof param !== 'object' || param === null || Array.isArray(param)) return param
  const members = Object.entries(param).filter(
    ([name, value]) =>
      value !== null &&
      !(name === 'commitment' && value === defaultCommitment) &&
      !(name === 'filters' && Array.isArray(value) && value.length === 0),
  )
  if (members.length === 0) return null
  return Object.fromEntries(
    members.map(([name, value]) =>
      name === 'filters' && Array.isArray(value) ? [name, sortedOnce(value)] : [name, value],
    ),
  )
}

function sortedOnce(filters: readonly unknown[]): readonly unknown[] {
  const byText = new Map(filters.map((each) => [canonicalJson(each), each]))
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** The signature is settled; that it was received is only the first of two events. */
function endsSignature(result: Uint8Array): boolean {
  return !Buffer.from(result).includes('"receivedSignature"')
}
