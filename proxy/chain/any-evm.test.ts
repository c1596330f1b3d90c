// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from './load-catalog.ts'

const catalogs = [
  ['bundled specs', await loadCatalog([])],
  ['own specs over them', await loadCatalog(['specs/base.yml'])],
] as const

test.each(
  catalogs.flatMap(([of, catalog]) =>
    [
      ['base', 'BASE'],
      ['Base', 'BASE'],
      ['evm:8453', 'BASE'],
      ['EVM-8453', 'BASE'],
      ['OP Mainnet', 'OPTM'],
      ['evm:1', 'ETH1'],
      ['evm:728126428', 'TRX'],
      ['evm:424242', 'EVM-424242'],
      ['evm:0', undefined],
      ['evm:x', undefined],
      ['', undefined],
    ].map(([name = '', id]) => [of, name, id, catalog] as const),
  ),
)('with %s, %j is %s', (_of, name, id, catalog) => {
  expect(catalog.find(name)?.id).toBe(id)
})

test.each(catalogs)('with %s, an EVM chain without a spec is checked by its id', (_, catalog) => {
  const chain = catalog.find('evm:424242')
  expect(catalog.find('EVM-424242')).toBe(chain)
  const verifications = chain?.interfaces.get('jsonrpc')?.verifications
  expect(verifications?.find(({ name }) => name === 'chain-id')?.expected).toBe('0x67932')
  expect(chain).toMatchObject({ name: 'EVM chain 424242', family: 'evm', finality: 'finalized' })
})

test('every chain is known by its names', () => {
  for (const [, catalog] of catalogs) {
    expect(catalog.names.map(({ id }) => id).toSorted()).toEqual(catalog.ids.toSorted())
    for (const { id, aliases, name } of catalog.names)
      for (const word of [id, ...aliases, name]) expect(catalog.find(word)?.id, word).toBe(id)
  }
})
