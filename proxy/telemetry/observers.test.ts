// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { aCall, anAttempt, aRecord, repliedBy } from './call.fixture.ts'
import { combineObservers } from './observers.ts'
import type { Observers } from './observers.ts'

/** Records the calls it receives. */
function recorder(received: unknown[], name: string): Observers {
  const record =
    (chain: string, what: string) =>
    (...values: unknown[]) =>
      void received.push([name, chain, what, ...values.filter((each) => each !== undefined)])
  return {
    relayObserver: (chain) => ({
      attemptEnded: record(chain, 'attemptEnded'),
      breakerChanged: record(chain, 'breakerChanged'),
    }),
    poolObserver: (chain) => ({
      stateChanged: record(chain, 'stateChanged'),
      cooldownBegan: record(chain, 'cooldownBegan'),
      dayUsed: record(chain, 'dayUsed'),
      verificationFailed: record(chain, 'verificationFailed'),
    }),
    crossValidationObserver: (chain) => ({
      validated: record(chain, 'validated'),
      finalizedMismatch: record(chain, 'finalizedMismatch'),
    }),
    subscriptionObserver: (chain) => ({
      clientsChanged: record(chain, 'clientsChanged'),
      upstreamChanged: record(chain, 'upstreamChanged'),
      joined: record(chain, 'joined'),
      left: record(chain, 'left'),
      filled: record(chain, 'filled'),
      duplicateDropped: record(chain, 'duplicateDropped'),
      fetchFailed: record(chain, 'fetchFailed'),
      ended: record(chain, 'ended'),
      failed: record(chain, 'failed'),
    }),
    listenerObserver: (chain) => ({
      callEnded: record(chain, 'callEnded'),
      requestRefused: record(chain, 'requestRefused'),
      connectionsChanged: record(chain, 'connectionsChanged'),
      socketsChanged: record(chain, 'socketsChanged'),
    }),
  }
}

test('each observer gets every call, in order', () => {
  const received: unknown[] = []
  const both = combineObservers([recorder(received, 'metrics'), recorder(received, 'log')])
  const relay = both.relayObserver('ETH1', 'jsonrpc')
  const pool = both.poolObserver('ETH1', 'jsonrpc')
  const listener = both.listenerObserver('ETH1', 'jsonrpc')
  const call = aCall()
  const attempt = anAttempt(call, 'node-a', 'answer')
  const end = repliedBy('node-a')
  const error = new RelayError(errorKinds.parse, 'x')
  relay.attemptEnded(call, attempt)
  relay.breakerChanged(true)
  pool.stateChanged('node-a', 'eligible', aRecord('disabled', 'why'))
  pool.cooldownBegan('node-a', 'https://a.example', 30_000, 'rate limited')
  pool.dayUsed?.('node-a', 'https://a.example', 'why')
  pool.verificationFailed('node-a', 'https://a.example', 'chain-id', 'why')
  listener.callEnded(call, end, 12)
  listener.requestRefused(error, 'guid-1', null)
  listener.connectionsChanged(3)
  listener.socketsChanged(2)
  const subscription = both.subscriptionObserver('ETH1', 'jsonrpc')
  subscription.clientsChanged('newHeads', 1)
  subscription.upstreamChanged('node-a', 1)
  subscription.joined('newHeads', 'one')
  subscription.left('newHeads', 'node-a', 'why')
  subscription.filled('newHeads', 2)
  subscription.duplicateDropped('newHeads')
  subscription.fetchFailed('newHeads', 12_000, 'why')
  subscription.ended('newHeads', 'why')
  subscription.failed('newHeads', error)
  const events = [
    ['attemptEnded', call, attempt],
    ['breakerChanged', true],
    ['stateChanged', 'node-a', 'eligible', aRecord('disabled', 'why')],
    ['cooldownBegan', 'node-a', 'https://a.example', 30_000, 'rate limited'],
    ['dayUsed', 'node-a', 'https://a.example', 'why'],
    ['verificationFailed', 'node-a', 'https://a.example', 'chain-id', 'why'],
    ['callEnded', call, end, 12],
    ['requestRefused', error, 'guid-1', null],
    ['connectionsChanged', 3],
    ['socketsChanged', 2],
    ['clientsChanged', 'newHeads', 1],
    ['upstreamChanged', 'node-a', 1],
    ['joined', 'newHeads', 'one'],
    ['left', 'newHeads', 'node-a', 'why'],
    ['filled', 'newHeads', 2],
    ['duplicateDropped', 'newHeads'],
    ['fetchFailed', 'newHeads', 12_000, 'why'],
    ['ended', 'newHeads', 'why'],
    ['failed', 'newHeads', error],
  ]
  const each = events.flatMap((event) => [
    ['metrics', 'ETH1', ...event],
    ['log', 'ETH1', ...event],
  ])
  expect(received).toEqual(each)
})
