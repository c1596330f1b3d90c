// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import { ethereum, nodeError, RelayFixture, result } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()

test('slow eth_getLogs answers do not reduce the share of cheap reads', async () => {
  const prompt = () => result('0x1', { afterMs: 20 })
  const config = { strategy: 'balanced', retryLimit: 0 } as const
  const relay = new RelayFixture(
    chain,
    iface,
    { a: { script: prompt }, b: { script: prompt } },
    config,
  )
  const logs = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x2' }] }
  relay.transport('a').play(() => result([], { afterMs: 900 }))
  for (let each = 0; each < 20; each++)
    await relay.ask({ ...logs, directives: { selectProvider: 'a' } })
  expect(relay.sent).toEqual({ a: 20, b: 0 })
  relay.transport('a').play(prompt)
  for (let each = 0; each < 400; each++) await relay.ask()
  expect((relay.sent['a']! - 20) / 400).toBeCloseTo(0.5, 1)
})

test('an attempt that times out reports its progress', async () => {
  const { call } = await new RelayFixture(
    chain,
    iface,
    { a: { script: () => ({ hang: true, progress: 'no headers had come' }) } },
    { retryLimit: 0, processingTimeoutMs: 4_000 },
  ).ask()
  expect(call.journal.attempts.map(({ detail }) => detail)).toEqual([
    'no answer in 4000 ms: no headers had come',
  ])
})

test.each<[string, ScriptedAnswer, httpStatus: number | null, code: number | null]>([
  ['a result', result('0x1'), 200, 0],
  ['an error of the node itself', nodeError(3, 'execution reverted'), 200, 3],
  ['an internal error', nodeError(-32_603, 'Internal error'), 200, -32_603],
  ['a page', { status: 502, body: '<h1>Oops</h1>' }, 502, null],
  ['no answer', { fault: 'reset' }, null, null],
])('an attempt records the status of %s', async (_, answer, httpStatus, code) => {
  const nodes = { a: { script: () => answer } }
  const { call } = await new RelayFixture(chain, iface, nodes, { retryLimit: 0 }).ask()
  expect(call.journal.attempts[0]).toMatchObject({ httpStatus, code })
})
