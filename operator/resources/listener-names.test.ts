// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { listenerNames } from './ports.ts'
import { buildService } from './service.ts'

type Written = readonly [name: string, port: number, chainId: string]

const eth: Written = ['eth1', 3360, 'ETH1']
const btc: Written = ['btc', 3361, 'BTC']
const ids: Readonly<Record<string, string>> = { ETH: 'ETH1' }
const chainIdOf = (chainId: string): string => ids[chainId] ?? chainId

function routerOf(endpoints: readonly Written[]) {
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

/** Which chain a client of each port of the Service meets in pods of a router; null where they are no endpoints of it. */
function chainsMet(service: readonly Written[], pods: readonly Written[]) {
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

describe('while a rollout goes on, clients of the Service reach in old pods', () => {
  test.each<[string, Written[], Written[], Record<number, string | null>]>([
    ['an endpoint that got another name', [['mainnet', 3360, 'ETH1']], [eth], { 3360: 'ETH1' }],
    [
      'endpoints that swapped their names',
      [
        ['btc', 3360, 'ETH1'],
        ['eth1', 3361, 'BTC'],
      ],
      [eth, btc],
      { 3360: 'ETH1', 3361: 'BTC' },
    ],
    ['an endpoint that got another port', [['eth1', 3367, 'ETH1']], [eth], { 3367: 'ETH1' }],
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
    [
      'nothing on a port whose chain is another now',
      [['eth1', 3360, 'BTC']],
      [eth],
      { 3360: null },
    ],
    ['nothing on a port that is new', [eth, btc], [eth], { 3360: 'ETH1', 3361: null }],
  ])('%s', (_, service, pods, met) => {
    expect(chainsMet(service, pods)).toEqual(met)
    const wanted = service.map(([, port, chainId]) => [port, chainId])
    expect(chainsMet(service, service)).toEqual(Object.fromEntries(wanted))
  })
})

test('names of ports are valid in Kubernetes, and unique', () => {
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
