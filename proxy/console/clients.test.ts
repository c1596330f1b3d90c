// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { clientLines, clientsOf } from './clients.ts'

const none = { perMinute: 0, clients: [] }
const others = { errors: none, refusals: none }
const of = (address: string, perMinute: number) => ({ address, userAgent: 'viem/2', perMinute })

test('the clients of all replicas are added up, most calls first', () => {
  const clients = clientsOf([
    { clients: { calls: { perMinute: 50, clients: [of('a', 40), of('b', 10)] }, ...others } },
    { clients: { calls: { perMinute: 50, clients: [of('b', 45)] }, ...others } },
  ])
  expect(clientLines(clients, 200).map(({ text }) => text.replaceAll(/ +/g, ' '))).toEqual([
    '',
    'CLIENTS',
    ' b 55 calls a minute 55% viem/2',
    ' a 40 calls a minute 40% viem/2',
  ])
})

test('clients behind one address have a line each, and those with errors are named', () => {
  const at = '10.0.0.9'
  const bot = { address: at, userAgent: 'promo-bot/0.3', perMinute: 490 }
  const calls = { perMinute: 550, clients: [bot, of(at, 60)] }
  const errors = { perMinute: 490, clients: [bot] }
  const clients = clientsOf([{ clients: { calls, errors, refusals: none } }])
  expect(clientLines(clients, 200).map(({ text }) => text.replaceAll(/ +/g, ' '))).toEqual([
    '',
    'CLIENTS',
    ' 10.0.0.9 490 calls a minute 89% promo-bot/0.3',
    ' 10.0.0.9 60 calls a minute 11% viem/2',
    ' 10.0.0.9 490 errors a minute 100% promo-bot/0.3',
  ])
})

test('the user agent fits beside an address on a narrow screen', () => {
  const top = { perMinute: 1_000, clients: [of('10.20.30.40', 1_000), of('::1', 1)] }
  const lines = clientLines({ calls: top, ...others }, 80)
  expect(lines.slice(2).map(({ text }) => text)).toEqual([
    ' 10.20.30.40 1000 calls a minute      100%  viem/2',
    ' ::1         1 calls a minute           0%  viem/2',
  ])
})

test('there is no section without clients', () => {
  expect(clientLines(clientsOf([{ clients: { calls: none, ...others } }]), 200)).toEqual([])
})
