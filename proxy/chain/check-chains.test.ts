// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, test } from 'vitest'
import type { LocatedUpstream } from '../config/entries.ts'
import type { ApiInterface } from '../config/types.ts'
import { checkChains } from '../config/checks/check-chains.ts'
import { loadCatalog } from './load-catalog.ts'
import type { ChainCatalog } from './types.ts'

let catalog: ChainCatalog

beforeAll(async () => {
  catalog = await loadCatalog([fileURLToPath(new URL('testdata/catalog', import.meta.url))])
})

interface Words {
  readonly addons?: readonly string[]
  readonly skipVerifications?: readonly string[]
}

/** An upstream as the config parser returns it. */
function entryOf(
  path: string,
  chainId: string,
  apiInterface: ApiInterface,
  { addons = [], skipVerifications = [] }: Words = {},
): LocatedUpstream {
  const node = { addons, 'skip-verifications': skipVerifications }
  return {
    path,
    tier: 'primary',
    entry: { 'chain-id': chainId, 'api-interface': apiInterface },
    urls: [{ path: `${path}.node-urls[0]`, entry: node }],
  }
}

function endpoint(chainId: string, apiInterface: ApiInterface = 'jsonrpc'): LocatedUpstream {
  return entryOf('endpoints[0]', chainId, apiInterface)
}

function upstream(chainId: string, words: Words): LocatedUpstream {
  return entryOf('direct-rpc[0]', chainId, 'jsonrpc', words)
}

function check(uses: readonly LocatedUpstream[]) {
  return checkChains({ endpoints: [], upstreams: uses, policies: [] }, catalog, (path) => ({
    line: path.length,
    column: 1,
  }))
}

it('accepts a valid config, whatever the letter case', () => {
  const url = { addons: ['archive', 'debug'], skipVerifications: ['chain-id', '*'] }
  expect(check([endpoint('eth1'), endpoint('APT1', 'rest'), upstream('ETH1', url)])).toEqual([])
})

test.each<[string, ApiInterface, string[]]>([
  ['HUBCHAIN', 'rest', ['chain-id', 'tx-indexing', 'minimum-gas-price', 'pruning', 'simulate']],
  ['HUBCHAINT', 'grpc', ['chain-id', 'tx-indexing', 'minimum-gas-price', 'pruning']],
  ['HUBCHAIN', 'tendermintrpc', ['chain-id', 'tx-indexing', 'minimum-gas-price', 'pruning']],
  ['SLOTCHAIN', 'jsonrpc', ['chain-id', 'version', 'tokens-owner-indexed']],
  ['ETH1', 'jsonrpc', ['chain-id', 'pruning', 'trustless-rpc', 'enabled', 'bundler', 'trace']],
  ['SEP1', 'jsonrpc', ['chain-id', 'pruning', 'trustless-rpc', 'enabled', 'bundler', 'trace']],
])(
  'a config written for the catalog may skip what the bundled %s %s never verifies',
  async (chainId, apiInterface, skipVerifications) => {
    const bundled = await loadCatalog([])
    const one = entryOf('direct-rpc[0]', chainId, apiInterface, { skipVerifications })
    expect(
      checkChains({ endpoints: [], upstreams: [one], policies: [] }, bundled, () => null),
    ).toEqual([])
  },
)

describe('a problem', () => {
  test.each<[string, LocatedUpstream, string, string, string]>([
    [
      'an unknown chain',
      endpoint('ETH2'),
      'endpoints[0].chain-id',
      'No chain spec has the id "ETH2".',
      'Did you mean ETH1?',
    ],
    [
      'an unknown chain',
      endpoint('Q'.repeat(30)),
      'endpoints[0].chain-id',
      'No chain spec',
      'Known chains: ',
    ],
    [
      'an interface',
      endpoint('ETH1', 'grpc'),
      'endpoints[0].api-interface',
      'ETH1 is not served through grpc.',
      'ETH1 has: jsonrpc.',
    ],
    [
      'an add-on',
      upstream('ETH1', { addons: ['archive', 'debgu'] }),
      'direct-rpc[0].node-urls[0].addons[1]',
      'ETH1 has no add-on "debgu" on jsonrpc.',
      'Did you mean "debug"? Its add-ons: ',
    ],
    [
      'an add-on of a chain without any',
      upstream('BTC', { addons: ['trace'] }),
      'direct-rpc[0].node-urls[0].addons[0]',
      'BTC has no add-on "trace" on jsonrpc.',
      'It has no add-ons.',
    ],
    [
      'a verification',
      upstream('ETH1', { skipVerifications: ['chain_id'] }),
      'direct-rpc[0].node-urls[0].skip-verifications[0]',
      'ETH1 has no verification "chain_id"',
      'Did you mean "chain-id"?',
    ],
    [
      'a verification similar to one that never runs',
      upstream('SOLANA', { skipVerifications: ['versoin'] }),
      'direct-rpc[0].node-urls[0].skip-verifications[0]',
      'SOLANA has no verification "versoin"',
      'Did you mean "version"? Its verifications: ',
    ],
    [
      'an upstream of an unknown chain',
      upstream('NOPE', {}),
      'direct-rpc[0].chain-id',
      'No chain spec has the id "NOPE".',
      '',
    ],
  ])('%s', (_case, one, path, message, hint) => {
    const problems = check([one])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ severity: 'error', path, line: path.length, column: 1 })
    expect(problems[0]?.message).toContain(message)
    expect(problems[0]?.hint).toContain(hint)
  })

  const queried = [
    endpoint('ETH1', 'grpc'),
    upstream('ETH1', { addons: ['x'] }),
    upstream('ETH1', { skipVerifications: ['x'] }),
  ]
  it.each(queried)(
    "is reported with the spec's file, unless the spec is bundled",
    async (entryOf) => {
      const hints = (catalog: ChainCatalog) =>
        checkChains({ endpoints: [], upstreams: [entryOf], policies: [] }, catalog, () => null).map(
          ({ hint }) => hint,
        )
      expect(hints(catalog)).toEqual([expect.stringMatching(/ Its spec is \S+\/ethereum\.json\.$/)])
      expect(hints(await loadCatalog([]))).toEqual([expect.not.stringContaining('Its spec is')])
    },
  )

  it('is reported together with all others', () => {
    const wrong = upstream('ETH1', { addons: ['a', 'b'], skipVerifications: ['c'] })
    expect(check([endpoint('X1'), endpoint('ETH1', 'rest'), wrong])).toHaveLength(5)
  })
})
