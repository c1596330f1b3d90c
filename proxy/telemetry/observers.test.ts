// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { aCall, anAttempt, repliedBy } from './call.fixture.ts'
import { combineObservers } from './observers.ts'
import type { Observers } from './observers.ts'

/** Writes down what it hears, in plain words. */
function recorder(heard: unknown[], name: string): Observers {
  const ear =
    (chain: string, what: string) =>
    (...told: unknown[]) =>
      void heard.push([name, chain, what, ...told.filter((each) => each !== undefined)])
  return {
    relayObserver: (chain) => ({
      attemptEnded: ear(chain, 'attemptEnded'),
      breakerChanged: ear(chain, 'breakerChanged'),
    }),
    poolObserver: (chain) => ({
      stateChanged: ear(chain, 'stateChanged'),
      cooldownBegan: ear(chain, 'cooldownBegan'),
      verificationFailed: ear(chain, 'verificationFailed'),
    }),
    subscriptionObserver: (chain) => ({
      clientsChanged: ear(chain, 'clientsChanged'),
      upstreamChanged: ear(chain, 'upstreamChanged'),
      joined: ear(chain, 'joined'),
      left: ear(chain, 'left'),
      filled: ear(chain, 'filled'),
      duplicateDropped: ear(chain, 'duplicateDropped'),
      fetchFailed: ear(chain, 'fetchFailed'),
      ended: ear(chain, 'ended'),
      failed: ear(chain, 'failed'),
    }),
    listenerObserver: (chain) => ({
      callEnded: ear(chain, 'callEnded'),
      requestRefused: ear(chain, 'requestRefused'),
      connectionsChanged: ear(chain, 'connectionsChanged'),
      socketsChanged: ear(chain, 'socketsChanged'),
    }),
  }
}

test('each one hears everything, in order', () => {
  const heard: unknown[] = []
  const both = combineObservers([recorder(heard, 'metrics'), recorder(heard, 'log')])
  const relay = both.relayObserver('ETH1', 'jsonrpc')
  const pool = both.poolObserver('ETH1', 'jsonrpc')
  const listener = both.listenerObserver('ETH1', 'jsonrpc')
  const call = aCall()
  const attempt = anAttempt(call, 'node-a', 'answer')
  const end = repliedBy('node-a')
  const error = new RelayError(errorKinds.parse, 'x')
  relay.attemptEnded(call, attempt)
  relay.breakerChanged(true)
  pool.stateChanged('node-a', 'eligible', 'disabled', 'why')
  pool.cooldownBegan('node-a', 'https://a.example', 30_000)
  pool.verificationFailed('node-a', 'https://a.example', 'chain-id', 'why')
  listener.callEnded(call, end, 12)
  listener.requestRefused(error, 'guid-1')
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
    ['stateChanged', 'node-a', 'eligible', 'disabled', 'why'],
    ['cooldownBegan', 'node-a', 'https://a.example', 30_000],
    ['verificationFailed', 'node-a', 'https://a.example', 'chain-id', 'why'],
    ['callEnded', call, end, 12],
    ['requestRefused', error, 'guid-1'],
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
  expect(heard).toEqual(each)
})
