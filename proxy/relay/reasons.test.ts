// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { evidenceOf } from '../chain/failure-words.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { ethereum, nodeError, RelayFixture, result, scripted } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const page = (status: number, body: string): ScriptedAnswer => ({ status, body })

test.each<[string, ScriptedAnswer, failure: string, evidence: string]>([
  [
    'a page',
    page(503, '<html><head><title>503</title></head><body><h1>no healthy\n upstream</h1></body>'),
    'http-unavailable',
    'HTTP 503: not JSON: no healthy upstream',
  ],
  ['a gateway', page(502, ''), 'http-bad-gateway', 'HTTP 502: not JSON'],
  [
    'an error',
    nodeError(-32000, 'Unauthorized: App is inactive'),
    'unauthorized',
    'code -32000: Unauthorized: App is inactive',
  ],
  ['a refused connection', { fault: 'refused' }, 'connection-refused', 'scripted'],
  ['a limit', page(429, 'busy'), 'http-rate-limited', 'HTTP 429: not JSON: busy'],
  ['a certificate', { fault: 'tls' }, 'tls-failed', 'scripted'],
])('%s has its reason in the record of its attempt and of its upstream', async (...row) => {
  const [, answer, failure, evidence] = row
  const relay = new RelayFixture(chain, iface, scripted({ a: answer, b: result('0x1') }))
  const { call } = await relay.ask()
  const [first] = call.journal.attempts
  expect([first?.result, first && evidenceOf(first)]).toEqual([
    expect.objectContaining({ name: failure }),
    evidence,
  ])
  for (let each = 0; each < 20; each++) await relay.ask()
  expect(relay.pool.snapshot().upstreams[0]?.why).toContain(`${failure} (${evidence})`)
})

test('of several URLs, the reason names the one that fails', async () => {
  const script = () => page(502, '')
  const urls = [{}, {}]
  const relay = new RelayFixture(chain, iface, {
    a: { script: () => result('0x1'), otherScripts: [script], urls },
    b: { script, urls },
  })
  for (let each = 0; each < 20; each++) await relay.ask()
  const [, b] = relay.pool.snapshot().upstreams
  expect(b?.why).toBe('http-bad-gateway (HTTP 502: not JSON) at http://b-1.test')
})
