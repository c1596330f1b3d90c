// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import type {
  EndpointConfig,
  NodeUrlConfig,
  RouterConfig,
  UpstreamConfig,
} from '../config/types.ts'
import { checkAgainstCatalog } from './check-config.ts'
import { loadCatalog } from './load-catalog.ts'
import type { ChainCatalog } from './types.ts'

let catalog: ChainCatalog

beforeAll(async () => {
  catalog = await loadCatalog([fileURLToPath(new URL('testdata/catalog', import.meta.url))])
})

const endpoint = (chainId: string, apiInterface: EndpointConfig['apiInterface'] = 'jsonrpc') =>
  ({ chainId, apiInterface }) as EndpointConfig

const upstream = (
  chainId: string,
  url: Partial<NodeUrlConfig>,
  tier: UpstreamConfig['tier'] = 'primary',
) =>
  ({
    name: 'n',
    tier,
    chainId,
    apiInterface: 'jsonrpc',
    nodeUrls: [{ url: new Secret('http://x'), addons: [], skipVerifications: [], ...url }],
  }) as unknown as UpstreamConfig

function check(endpoints: EndpointConfig[], upstreams: UpstreamConfig[] = []) {
  const config = { endpoints, upstreams } as unknown as RouterConfig
  return checkAgainstCatalog(config, catalog, (path) => ({ line: path.length, column: 1 }))
}

it('finds nothing wrong with what is right, whatever the case', () => {
  const url = { addons: ['archive', 'debug'], skipVerifications: ['chain-id', '*'] }
  expect(check([endpoint('eth1'), endpoint('APT1', 'rest')], [upstream('ETH1', url)])).toEqual([])
})

describe('what is wrong', () => {
  test.each<[string, EndpointConfig[], UpstreamConfig[], string, string, string]>([
    [
      'an unknown chain',
      [endpoint('ETH2')],
      [],
      'endpoints[0].chain-id',
      'No chain spec has the id "ETH2".',
      'Did you mean ETH1?',
    ],
    [
      'a chain like no other',
      [endpoint('Q'.repeat(30))],
      [],
      'endpoints[0].chain-id',
      'No chain spec',
      'Known chains: ',
    ],
    [
      'an interface',
      [endpoint('ETH1', 'grpc')],
      [],
      'endpoints[0].api-interface',
      'ETH1 is not served through grpc.',
      'ETH1 has: jsonrpc.',
    ],
    [
      'an add-on',
      [],
      [upstream('ETH1', { addons: ['archive', 'debgu'] })],
      'direct-rpc[0].node-urls[0].addons[1]',
      'ETH1 has no add-on "debgu" on jsonrpc.',
      'Did you mean "debug"? Its add-ons: ',
    ],
    [
      'an add-on of a chain without any',
      [],
      [upstream('BTC', { addons: ['trace'] })],
      'direct-rpc[0].node-urls[0].addons[0]',
      'BTC has no add-on "trace" on jsonrpc.',
      'It has no add-ons.',
    ],
    [
      'a verification',
      [],
      [upstream('ETH1', { skipVerifications: ['chain_id'] })],
      'direct-rpc[0].node-urls[0].skip-verifications[0]',
      'ETH1 has no verification "chain_id"',
      'Did you mean "chain-id"?',
    ],
    [
      'an upstream of an unknown chain',
      [],
      [upstream('NOPE', {})],
      'direct-rpc[0].chain-id',
      'No chain spec has the id "NOPE".',
      '',
    ],
    [
      'a backup',
      [],
      [
        upstream('ETH1', {}),
        upstream('ETH1', {}, 'backup'),
        upstream('ETH1', { addons: ['x'] }, 'backup'),
      ],
      'backup-direct-rpc[1].node-urls[0].addons[0]',
      'no add-on "x"',
      '',
    ],
  ])('%s', (_case, endpoints, upstreams, path, message, hint) => {
    const problems = check(endpoints, upstreams)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ severity: 'error', path, line: path.length, column: 1 })
    expect(problems[0]?.message).toContain(message)
    expect(problems[0]?.hint).toContain(hint)
  })

  it('is told all at once', () => {
    const wrong = upstream('ETH1', { addons: ['a', 'b'], skipVerifications: ['c'] })
    expect(check([endpoint('X1'), endpoint('ETH1', 'rest')], [wrong])).toHaveLength(5)
  })
})
