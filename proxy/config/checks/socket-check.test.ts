// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KnownChains } from './check-chains.ts'
import { parseConfig } from '../parse.ts'
import { checkSockets, listenersWithoutSocket } from './socket-check.ts'

const known: KnownChains = {
  ids: ['ETH1', 'BTC'],
  find(written) {
    const id = { ETH1: 'ETH1', ETHEREUM: 'ETH1', BTC: 'BTC' }[written]
    return id === undefined ? null : { id, interfaces: null }
  },
  subscribes: (chainId) => ({ ETH1: true, BTC: false })[chainId] ?? null,
}

function parsed(chainId: string, urls: readonly string[], more = '') {
  const upstreams = urls.map(
    (url, index) =>
      `  - { name: u${index}, chain-id: ${chainId}, api-interface: jsonrpc, node-urls: [{ url: '${url}' }] }`,
  )
  const text = `endpoints:\n  - { chain-id: ETH1, api-interface: jsonrpc }\ndirect-rpc:\n${upstreams.join('\n')}\n${more}`
  const config = text.replace('chain-id: ETH1', `chain-id: ${chainId}`)
  return parseConfig(config, { environment: {}, flags: {} })
}

function without(chainId: string, ...urls: readonly string[]) {
  const { config } = parsed(chainId, urls)
  if (config === null) throw new Error('the config has errors')
  return listenersWithoutSocket(config, known)
}

test('a chain with subscriptions needs one WebSocket URL', () => {
  expect(without('ETH1', 'https://a.example')).toEqual([
    { index: 0, serves: 'ETH1 jsonrpc', upstreams: ['u0'], isCertain: true },
  ])
  expect(without('ETH1', 'https://a.example', 'wss://b.example')).toEqual([])
  expect(without('ETHEREUM', 'https://a.example')).toMatchObject([{ serves: 'ETH1 jsonrpc' }])
})

test('a chain without subscriptions needs none, and an unknown one is uncertain', () => {
  expect(without('BTC', 'https://a.example')).toEqual([])
  expect(without('OWN', 'https://a.example')).toMatchObject([{ isCertain: false }])
})

test('the problem names the line to add, and the flag silences it', () => {
  const problemsOf = (more: string) =>
    checkSockets(parsed('ETH1', ['https://a.example'], more), known)
  expect(problemsOf('')).toMatchObject([
    { hint: expect.stringContaining('add the line "skip-websocket-verification: true"') },
  ])
  expect(problemsOf('skip-websocket-verification: true')).toEqual([])
})
