// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { ClassifiedChain, tag } from '../testing/classified-chain.ts'

const catalog = await loadCatalog([])

test.each([
  ['OSMOSIS', 'osmosis-1'],
  ['TIA', 'celestia'],
  ['DYDX', 'dydx-mainnet-1'],
  ['INJ', 'injective-1'],
  ['NEUTRON', 'neutron-1'],
  ['NOBLE', 'noble-1'],
  ['AXELAR', 'axelar-dojo-1'],
])('%s is identified by %s on every interface', (name, expected) => {
  const chain = catalog.find(name)!
  expect(chain).toMatchObject({ family: 'cosmos', finality: 1 })
  for (const { verifications } of chain.interfaces.values())
    expect(verifications[0]).toMatchObject({ name: 'chain-id', expected, severity: 'fail' })
  expect([...chain.interfaces.keys()]).toEqual(['rest', 'tendermintrpc', 'grpc'])
})

it('has the modules of the SDK and its own', () => {
  const axelar = new ClassifiedChain(catalog.find('AXELAR')!)
  const latest = { known: true, block: tag('latest') }
  expect(axelar.rest('GET /cosmos/bank/v1beta1/supply')).toMatchObject(latest)
  expect(axelar.rest('GET /axelar/evm/v1beta1/params/ethereum')).toMatchObject(latest)
  expect(axelar.grpc('axelar.nexus.v1beta1.QueryService/Chains')).toMatchObject(latest)
  const osmosis = new ClassifiedChain(catalog.find('OSMO')!)
  expect(osmosis.rest('GET /axelar/evm/v1beta1/chains').known).toBe(false)
})
