// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ResultPath } from '../../chain/types.ts'
import { bufferOf, Cursor } from '../../json/scanner.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Topic, TopicRequest } from '../subscriptions.ts'
import type { SubscriptionForm } from '../form.ts'

/** A query for exactly one of these events can be backfilled from the chain. */
const sequence = /^tm\.event='(NewBlock|NewBlockHeader)'$/

const heightAt = (path: readonly string[], ahead = 0): ResultPath => ({
  path: ['data', 'value', ...path, 'height'],
  encoding: 'decimal',
  ahead,
})
/** These events concern the round of the next block. */
const rounds = ['CompleteProposal', 'Lock', 'NewRound', 'NewRoundStep', 'Polka', 'ValidBlock']

/** Events that metrics name, with the path of their height, if any. Client text names none. */
const namedEvents: ReadonlyMap<string, ResultPath | undefined> = new Map([
  ...rounds.map((event) => [event, heightAt([], 1)] as const),
  ['NewBlock', heightAt(['block', 'header'])],
  ['NewBlockEvents', heightAt([])],
  ['NewBlockHeader', heightAt(['header'])],
  ['NewEvidence', heightAt([])],
  ['Tx', heightAt(['TxResult'])],
  ['ValidatorSetUpdates', undefined],
  ['Vote', heightAt(['Vote'], 1)],
])

/**
 * Tendermint: the query identifies the subscription, and events arrive as further answers to the
 * request. They repeat the query in the client's spelling, so the shared bytes start after it.
 */
export const tendermintForm: SubscriptionForm = {
  opens: (method) => method === 'subscribe',
  read(question) {
    switch (question.method) {
      case 'subscribe':
        return { kind: 'subscribe', topic: topicOf(queryOf(question)), question }
      case 'unsubscribe':
        return { kind: 'unsubscribe', handle: normalizedQuery(queryOf(question)) }
      case 'unsubscribe_all':
        return { kind: 'unsubscribe', handle: null }
      default:
        return null
    }
  },
  name: ({ topic, question }) => ({ json: question.id, handle: topic.key }),
  subscribed: () => '{}',
  unsubscribed: '{}',
  envelope: ({ question }, { json }) => ({
    head: Buffer.from(
      `{"jsonrpc":"2.0","id":${json},"result":{"query":${JSON.stringify(queryOf(question))},`,
    ),
    tail: Buffer.from('}}'),
  }),
}

/** The query reaches the node unchanged, because node versions parse queries differently. */
function topicOf(query: string): Topic {
  const key = normalizedQuery(query)
  const [, event = ''] = /(?:^| )tm\.event='(\w+)'/.exec(key) ?? []
  return {
    sequence: sequence.exec(key)?.[1] ?? null,
    key,
    name: namedEvents.has(event) ? event : 'other',
    shared: behindQuery,
    place: namedEvents.get(event),
    ...subscribeRequest(query),
  }
}

export function subscribeRequest(query: string): TopicRequest {
  const params = { query }
  return { method: 'subscribe', params, unsubscribe: () => ({ method: 'unsubscribe', params }) }
}

/** Collapses white space outside quotes, which is insignificant. */
function normalizedQuery(query: string): string {
  const parts = query.trim().split("'")
  return parts
    .map((part, at) =>
      at % 2 === 1 ? part : part.replaceAll(/\s+/g, ' ').replaceAll(/ ?([<>=]+) ?/g, '$1'),
    )
    .join("'")
}

function queryOf({ method, params }: { readonly method: string; readonly params: unknown }) {
  const query: unknown = Array.isArray(params)
    ? params[0]
    : (params as { readonly query?: unknown } | null | undefined)?.query
  if (typeof query !== 'string')
    throw new RelayError(errorKinds.invalidParams, `${method}: "query" must be a string`)
  return query
}

/**
 * The part of an event that all clients share: its members without the query and the braces. Each
 * client gets the query in its own spelling.
 */
export function behindQuery(event: Uint8Array): Uint8Array {
  if (event[0] !== 0x7b) return event
  const parts: Uint8Array[] = []
  const cursor = new Cursor(event, 0)
  while (cursor.next()) {
    if (cursor.isNamed('query')) continue
    if (parts.length > 0) parts.push(Buffer.from(','))
    parts.push(bufferOf(event).subarray(cursor.nameStart, cursor.valueEnd))
  }
  return Buffer.concat(parts)
}
