// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { Chain } from '../chain/types.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { probe } from './probe.ts'
import { dialects } from './dialect.ts'
import { Cooldown } from './health.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { ScriptedTransport } from './testing/scripted-transport.ts'
import { NodeUrl } from './node-url.ts'

let chain: Chain
beforeAll(async () => {
  const found = (await loadCatalog([])).find('ETH1')
  if (!found) throw new Error('the bundled specs lack ETH1')
  chain = found
})

test.each<[string, number | null, number | null, number]>([
  ['neither has a timeout', null, null, 5_000],
  ['the spec has a timeout', null, 2_000, 2_000],
  ['the URL has a timeout', 700, null, 700],
  ['both have one, so that of the URL applies', 9_000, 2_000, 9_000],
])('the timeout of a probe when %s', async (_case, ofUrlMs, ofSpecMs, expectedMs) => {
  const clock = new VirtualClock()
  const transport = new ScriptedTransport(clock, () => ({ hang: true }))
  const config = nodeUrlConfig('http://node.test', { timeoutMs: ofUrlMs })
  const question = chain.interfaces.get('jsonrpc')?.latestBlock
  if (!question) throw new Error('ETH1 lacks its question for the latest block')
  let endedMs = 0
  const answer = probe(
    new NodeUrl(config, transport, new Cooldown(clock, seededRandom(1))),
    { ...question, timeoutMs: ofSpecMs },
    {
      ...{ dialect: dialects.jsonrpc, failures: chain.failures, clock },
      signal: new AbortController().signal,
    },
  ).finally(() => (endedMs = clock.nowMs()))
  await clock.advance(20_000)
  expect(await answer).toMatchObject({
    kind: 'failed',
    why: `attempt-timeout (no answer in ${expectedMs} ms)`,
  })
  expect(endedMs).toBe(expectedMs)
  expect(transport.open).toBe(0)
})

test.each([
  [{ status: 402 }, { limit: 'quota', retryAfterMs: null }],
  [
    { status: 429, headers: ['ratelimit', '"default";r=0;t=30'] },
    { limit: 'rate', retryAfterMs: 30_000 },
  ],
])('a probe knows what is limited, and for how long: %j', async (answer, details) => {
  const clock = new VirtualClock()
  const cooldown = new Cooldown(clock, null)
  const transport = new ScriptedTransport(clock, () => answer)
  const url = new NodeUrl(nodeUrlConfig('http://node.test'), transport, cooldown)
  const { latestBlock } = chain.interfaces.get('jsonrpc')!
  const probed = probe(url, latestBlock!, {
    ...{ dialect: dialects.jsonrpc, failures: chain.failures, clock },
    signal: new AbortController().signal,
  })
  await clock.advance(100)
  expect(await probed).toMatchObject({ kind: 'limited', ...details })
})

test.each([
  ['https://www.node.test/v1/verysecretkey?token=other', 'https://www.node.test'],
  ['/v1/', 'another path'],
])('a redirect to %s names its target without a key', async (location, target) => {
  const clock = new VirtualClock()
  const answer = { status: 301, headers: ['Location', location] }
  const transport = new ScriptedTransport(clock, () => answer)
  const url = new NodeUrl(nodeUrlConfig('http://node.test'), transport, new Cooldown(clock, null))
  const { latestBlock } = chain.interfaces.get('jsonrpc')!
  const probed = probe(url, latestBlock!, {
    ...{ dialect: dialects.jsonrpc, failures: chain.failures, clock },
    signal: new AbortController().signal,
  })
  await clock.advance(100)
  expect(await probed).toMatchObject({ why: `http-redirect (HTTP 301: redirects to ${target})` })
})
