// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { listenerNames } from './ports.ts'
import { buildService } from './service.ts'

type EndpointTuple = readonly [name: string, port: number, chainId: string]

const eth: EndpointTuple = ['eth1', 3360, 'ETH1']
const btc: EndpointTuple = ['btc', 3361, 'BTC']
const ids: Readonly<Record<string, string>> = { ETH: 'ETH1' }
const chainIdOf = (chainId: string): string => ids[chainId] ?? chainId

function routerOf(endpoints: readonly EndpointTuple[]) {
  return rpcRouterSchema.parse({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'RpcRouter',
    metadata: { namespace: 'ns', name: 'r', uid: 'uid-of-r', generation: 1 },
    spec: {
      endpoints: endpoints.map(([name, port, chainId]) => {
        return { name, port, chainId, apiInterface: 'jsonrpc' }
      }),
    },
  })
}

/** Returns the chain that each port of the Service reaches in these pods; null if none. */
function reachedChains(service: readonly EndpointTuple[], pods: readonly EndpointTuple[]) {
  const { endpoints } = routerOf(pods).spec
  const names = listenerNames(endpoints, chainIdOf)
  const ports = buildService(routerOf(service), chainIdOf).spec.ports ?? []
  return Object.fromEntries(
    ports.map(({ port, targetPort }) => [
      port,
      endpoints[names.indexOf(String(targetPort))]?.chainId ?? null,
    ]),
  )
}

describe('during a rollout, clients of the Service reach in old pods', () => {
  test.each<[string, EndpointTuple[], EndpointTuple[], Record<number, string | null>]>([
    ['a renamed endpoint', [['mainnet', 3360, 'ETH1']], [eth], { 3360: 'ETH1' }],
    [
      'endpoints that swapped their names',
      [
        ['btc', 3360, 'ETH1'],
        ['eth1', 3361, 'BTC'],
      ],
      [eth, btc],
      { 3360: 'ETH1', 3361: 'BTC' },
    ],
    ['an endpoint with a new port', [['eth1', 3367, 'ETH1']], [eth], { 3367: 'ETH1' }],
    [
      'endpoints that swapped their ports',
      [
        ['eth1', 3361, 'ETH1'],
        ['btc', 3360, 'BTC'],
      ],
      [eth, btc],
      { 3361: 'ETH1', 3360: 'BTC' },
    ],
    ['endpoints in another order', [btc, eth], [eth, btc], { 3360: 'ETH1', 3361: 'BTC' }],
    ['a chain by its alias', [['eth1', 3360, 'ETH']], [eth], { 3360: 'ETH1' }],
    ['nothing on a port with a new chain', [['eth1', 3360, 'BTC']], [eth], { 3360: null }],
    ['nothing on a new port', [eth, btc], [eth], { 3360: 'ETH1', 3361: null }],
  ])('%s', (_, service, pods, reached) => {
    expect(reachedChains(service, pods)).toEqual(reached)
    const wanted = service.map(([, port, chainId]) => [port, chainId])
    expect(reachedChains(service, service)).toEqual(Object.fromEntries(wanted))
  })
})

test('port names are unique and valid in Kubernetes', () => {
  const endpoints = (['jsonrpc', 'rest', 'grpc', 'tendermintrpc'] as const).flatMap(
    (apiInterface) =>
      ['ETH1', 'LAVA', 'LAVA'].map((chainId) => {
        return { chainId, apiInterface }
      }),
  )
  const names = listenerNames(endpoints, chainIdOf)
  expect(new Set(names).size).toBe(endpoints.length)
  for (const name of names) expect(name).toMatch(/^[a-z]{4}-[0-9a-f]{10}$/)
})
