// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { upstreamProviderSchema } from '../api/upstream-provider.ts'
import { providerStatus, type RouterResult } from './provider-status.ts'
import type { ProviderRefusal } from '../translate/violations.ts'

const provider = upstreamProviderSchema.parse({
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'UpstreamProvider',
  metadata: { namespace: 'ns', name: 'a', uid: 'u', generation: 1 },
  spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url: 'https://a.example' }] },
})

const fault: ProviderRefusal = {
  reason: 'InvalidConfig',
  field: 'spec.nodeUrls[0].url',
  message: 'has a port above 65535',
}

const elsewhere = (router: string): ProviderRefusal => ({
  reason: 'ChainNotServed',
  field: 'spec.chainId',
  message: `the RpcRouter ${router} has no endpoint for ETH1 jsonrpc, only for BTC jsonrpc`,
})

const resultOf = (router: string, ...refusals: readonly ProviderRefusal[]): RouterResult => ({
  router,
  refusals,
  usage: refusals.length === 0 ? 'used' : 'excluded',
  observations: null,
})

function accepted(...routers: readonly RouterResult[]): string {
  const upstream = { chain: 'ETH1', interface: 'jsonrpc', name: 'a' }
  const observation = {
    provider,
    upstream,
    refusals: [],
    unresolvedRefs: [],
    routers,
    now: '2026-01-01T00:00:00Z',
  }
  const { conditions } = providerStatus(observation)
  const { status, reason, message } = conditions?.find(({ type }) => type === 'Accepted') ?? {}
  return `${status}/${reason}: ${message}`
}

const own = 'False/InvalidConfig: spec.nodeUrls[0].url: has a port above 65535.'
const notServed =
  'spec.chainId: the RpcRouter r0 has no endpoint for ETH1 jsonrpc, only for BTC jsonrpc'

test.each([
  ['one router accepts it', [resultOf('eth')], 'True/Accepted: It is valid.'],
  [
    'one accepts it, another serves another chain',
    [resultOf('btc', elsewhere('btc')), resultOf('eth')],
    'True/Accepted: It is valid.',
  ],
  ['its fault, first', [resultOf('eth', fault), resultOf('btc', elsewhere('btc'))], own],
  ['its fault, last', [resultOf('btc', elsewhere('btc')), resultOf('eth', fault)], own],
  ['its fault, reported by many', [resultOf('eth', fault), resultOf('eth2', fault)], own],
  [
    'a router of another chain',
    [resultOf('r0', elsewhere('r0'))],
    `False/ChainNotServed: ${notServed}.`,
  ],
] as const)('%s', (_, routers, expected) => {
  expect(accepted(...routers)).toBe(expected)
})

test('many routers of other chains share one sentence', () => {
  const routers = Array.from({ length: 27 }, (_, index) =>
    resultOf(`r${index}`, elsewhere(`r${index}`)),
  )
  expect(accepted(...routers)).toBe(
    `False/ChainNotServed: ${notServed}; nor do the other RpcRouters that select it (26).`,
  )
})
