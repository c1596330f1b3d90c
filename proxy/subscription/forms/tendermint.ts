// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { SubscriptionForm } from '../form.ts'
import type { Topic, TopicKind } from '../topic.ts'
import { behindQuery } from '../chains/tendermint-event.ts'
import {
  mostQueryBytes,
  readQuery,
  writeQuery,
  type QueryCondition,
} from '../chains/tendermint-query.ts'

/** What of the event's kinds can be made from the chain itself. */
const kinds: ReadonlyMap<string, TopicKind> = new Map([
  ['NewBlock', 'blocks'],
  ['NewBlockHeader', 'headers'],
  ['Tx', 'transactions'],
])

/** What is told of beside these; a stranger's own words name no metrics. */
const namedEvents: ReadonlySet<string> = new Set([
  'CompleteProposal',
  'Lock',
  'NewBlockEvents',
  'NewEvidence',
  'NewRound',
  'NewRoundStep',
  'Polka',
  'ValidBlock',
  'ValidatorSetUpdates',
  'Vote',
])

/**
 * Tendermint: a query is the subscription's name, and events come as further answers to the request.
 * They repeat the query, in the client's own spelling: what the clients share begins behind it.
 */
export const tendermintForm: SubscriptionForm = {
  opens: (method) => method === 'subscribe',
  read(question) {
    switch (question.method) {
      case 'subscribe':
        return { kind: 'subscribe', topic: topicOf(queryOf(question)), question }
      case 'unsubscribe':
        return { kind: 'unsubscribe', handle: topicOf(queryOf(question)).key }
      case 'unsubscribe_all':
        return { kind: 'unsubscribe-all' }
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

function topicOf(text: string): Topic {
  const { conditions, isCertain } = readQuery(text)
  const key = writeQuery(conditions)
  const event = eventOf(conditions)
  // Spaces of ours must not make it longer than a node takes it.
  const query = Buffer.byteLength(key) > mostQueryBytes ? text : key
  return {
    kind: isCertain ? kindOf(event, conditions) : 'live',
    key,
    name: namedEvents.has(event) || kinds.has(event) ? event : 'other',
    // Whatever the query asks for, all events have one form.
    isNamed: true,
    method: 'subscribe',
    params: { query },
    unsubscribe: () => ({ method: 'unsubscribe', params: { query } }),
    shared: behindQuery,
    isLast: null,
  }
}

/** Empty where there is none, or no single one. */
function eventOf(conditions: readonly QueryCondition[]): string {
  const events = conditions.filter(({ tag }) => tag === 'tm.event')
  const [first] = events
  const isSingle = events.length === 1 && first?.operator === '='
  return isSingle && first.operand.type === 'text' ? first.operand.text : ''
}

/** Of blocks nothing further may be asked: their events are not searched for. */
function kindOf(event: string, conditions: readonly QueryCondition[]): TopicKind {
  const kind = kinds.get(event) ?? 'live'
  return kind === 'transactions' || conditions.length === 1 ? kind : 'live'
}

function queryOf({ method, params }: { readonly method: string; readonly params: unknown }) {
  const query: unknown = Array.isArray(params)
    ? params[0]
    : (params as { readonly query?: unknown } | null | undefined)?.query
  if (typeof query !== 'string')
    throw new RelayError(errorKinds.invalidParams, `${method}: "query" must be a text`)
  return query
}
