// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { egressPorts } from './rendered-config.ts'

/** Returns the egress ports of a router whose config has this URL. */
function portsOf(url: string, spec: object = {}): readonly number[] | 'any' {
  const { router } = readScenario(JSON.stringify({ router: spec, providers: { a: {} } }))
  const { config } = translateScenario(readScenario('providers: { a: {} }'))
  if (config === null) throw new Error('there is no config')
  const upstreams = config.upstreams.map((each) => ({
    ...each,
    entry: { ...each.entry, 'node-urls': [{ url }] },
  }))
  return egressPorts(router, { ...config, upstreams })
}

test.each<[string, readonly number[] | 'any']>([
  ['https://a.example', [443]],
  ['ws://a.example/v1:8080', [80]],
  ['https://me:1234@a.example', [443]],
  ['http://[::1]:8545', [8545]],
  ['https://a.example:${PORT}', 'any'],
  ['https://a.example:1', [1]],
  ['https://a.example:65535', [65_535]],
  ['https://a.example:0', []],
  ['https://a.example:00', []],
  ['https://a.example:65536', []],
  ['https://a.example:700000', []],
])('egress ports of %s', (url, ports) => {
  expect(portsOf(url)).toEqual(ports)
})

test.each<[string, object]>([
  ['the archive of specs', { specSources: [{ type: 'Url', url: 'https://git.example:70000/a' }] }],
  ['the collector of traces', { tracing: { endpoint: 'http://collector.example:70000' } }],
  [
    'the cache service',
    { cache: { type: 'CacheService', cacheService: { address: 'cache.example:70000' } } },
  ],
  ['Redis', { sharedState: { mode: 'External', external: { addresses: ['redis.example:0'] } } }],
  [
    'the cache service of sessions',
    { sharedState: { mode: 'CacheService', cacheService: { address: 'cache.example:0' } } },
  ],
])('an invalid port of %s is ignored', (_, spec) => {
  expect(portsOf('https://a.example', spec)).toEqual([443])
})

const sharedState = { mode: 'External', external: { addresses: ['sessions.example:6380'] } }
const redis = { addresses: ['answers.example:6381'] }
const cacheService = { address: 'cache.example:20100' }

test.each<[string, object, readonly number[]]>([
  ['a managed Redis', { sharedState: { mode: 'Managed' } }, [443, 6379]],
  [
    'two managed Redis',
    { sharedState: { mode: 'Managed' }, cache: { type: 'Managed' } },
    [443, 6379],
  ],
  ['two external Redis', { sharedState, cache: { type: 'Redis', redis } }, [443, 6380, 6381]],
  ['a cache service', { sharedState: { mode: 'CacheService', cacheService } }, [443, 20_100]],
])('egress ports of %s', (_, spec, ports) => {
  expect(portsOf('https://a.example', spec)).toEqual(ports)
})
