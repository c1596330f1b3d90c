// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseConfig } from '../config/parse.ts'
import { shareOf, workersOf } from './share.ts'

function configOf(more: string) {
  const text = `
endpoints: [{ network-address: ':1', chain-id: ETH1, api-interface: jsonrpc }]
direct-rpc:
  - name: a
    chain-id: ETH1
    api-interface: jsonrpc
    node-urls: [{ url: 'https://a.example', ${more} }]
max-buffered-bytes: 1GiB
`
  const { config, problems } = parseConfig(text, { environment: {}, flags: {} })
  if (!config) throw new Error(JSON.stringify(problems))
  return config
}

test('the limits of all workers add up to those of the config', () => {
  const [limit, count] = [fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 2, max: 64 })]
  fc.assert(
    fc.property(limit, limit, limit, count, (perSecond, perDay, concurrent, workers) => {
      const limits = `per-second: ${perSecond}, per-day: ${perDay}, concurrent: ${concurrent}`
      const config = configOf(`limits: { ${limits} }`)
      const shares = Array.from({ length: workers }, (_, at) => shareOf(config, at + 1, workers))
      const urls = shares.map(({ upstreams }) => upstreams[0]?.nodeUrls[0]?.limits)
      const sum = (of: (at: number) => number) => shares.reduce((all, _, at) => all + of(at), 0)
      // A worker without a share could not use the node at all.
      const expected = (total: number) => Math.max(total, workers)
      expect(sum((at) => urls[at]?.perSecond ?? 0)).toBe(expected(perSecond))
      expect(sum((at) => urls[at]?.perDay ?? 0)).toBe(expected(perDay))
      expect(sum((at) => urls[at]?.concurrent ?? 0)).toBe(expected(concurrent))
      expect(sum((at) => shares[at]?.maxSessionsPerUpstream ?? 0)).toBe(
        config.maxSessionsPerUpstream,
      )
      expect(sum((at) => shares[at]?.maxBufferedBytes ?? 0)).toBe(config.maxBufferedBytes)
    }),
    { numRuns: 50 },
  )
})

test('a worker shares its state whatever the config says about replicas', () => {
  const { sharedState, cache } = shareOf(configOf('compression: false'), 1, 2)
  expect([sharedState, cache.isShared]).toEqual([true, true])
})

test.each([
  [1, 1],
  [4, 4],
])('workers: %s', (workers, expected) => expect(workersOf({ workers })).toBe(expected))

test('workers: auto', () => expect(workersOf({ workers: 'auto' })).toBeGreaterThan(0))
