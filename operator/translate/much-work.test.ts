// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { upstreamProviderSchema } from '../api/upstream-provider.ts'
import { apiVersion } from '../api/group.ts'
import { secretData } from './decode-data.ts'
import { knownChains } from './known-chains.ts'
import type { ReferenceData } from './reference-data.ts'
import { readUpstreams } from './stored-upstreams.ts'
import { translateInSteps } from './translate.ts'
import { nothingRuns, type Running, type Translation } from './translation.ts'

/*
 * How much work a router can make. Objects within the bounds of the API must not keep the operator of a whole cluster busy.
 */

const metadata = (name: string) => ({ name, namespace: 'rpc', uid: `uid-of-${name}` })

const router = rpcRouterSchema.parse({
  apiVersion,
  kind: 'RpcRouter',
  metadata: metadata('mainnet'),
  spec: {
    endpoints: [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }],
    providerSelector: {},
  },
})

/** Providers with 16 URLs of 16 headers, each from a key of its own of one Secret. */
function largeProviders(count: number) {
  const header = (provider: number, url: number, index: number) => ({
    name: `x-key-${index}`,
    valueFrom: { secretKeyRef: { name: 'keys', key: `k${(provider * 16 + url) * 16 + index}` } },
  })
  const sixteen = Array.from({ length: 16 }, (_, index) => index)
  return Array.from({ length: count }, (_, provider) =>
    upstreamProviderSchema.parse({
      apiVersion,
      kind: 'UpstreamProvider',
      metadata: metadata(`p${provider}`),
      spec: {
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        nodeUrls: sixteen.map((url) => ({
          url: `https://p${provider}-${url}.example`,
          auth: { headers: sixteen.map((index) => header(provider, url, index)) },
        })),
      },
    }),
  )
}

function keysOf(value: string): ReferenceData {
  const all = Array.from({ length: 16 * 256 }, (_, index) => [`k${index}`, value])
  const data = new Proxy(Object.fromEntries(all) as Record<string, string>, {
    ownKeys() {
      throw new TypeError('all keys of a Secret were listed')
    },
  })
  const secret = secretData({ stringData: data, uid: 'uid-of-keys' })
  return { secret: (name) => (name === 'keys' ? secret : null), configMap: () => null }
}

function translated(count: number, data: ReferenceData, running: Running) {
  const providers = largeProviders(count)
  const chains = knownChains([['ETH1', [], 'jsonrpc', [], []]])
  const steps = translateInSteps({ router, providers, data, chains, running, newPods: false })
  for (let taken = 1; ; taken++) {
    const { done, value } = steps.next()
    if (done) return { translation: value, steps: taken }
  }
}

function fates({ providers }: Translation): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(Object.groupBy(providers, ({ fate }) => fate)).map(
      ([fate, all]) => [fate, all.length] as const,
    ),
  )
}

test('what is too much for one config is found in a few steps for each provider', () => {
  const { translation, steps } = translated(16, keysOf('value'), nothingRuns)
  expect(fates(translation)).toEqual({ used: 15, 'left-out': 1 })
  expect(translation.config).not.toBeNull()
  expect(steps).toBeLessThan(16 * 6)
})

test('thousands of values that became bad are found in a few steps for each provider', () => {
  const { config } = translated(4, keysOf('value'), nothingRuns).translation
  if (config === null) throw new Error('there is no config')
  const running = { upstreams: readUpstreams(config.data), secretHashes: config.secretHashes }
  const { translation, steps } = translated(4, keysOf('a\nb'), running)
  expect(fates(translation)).toEqual({ 'kept-by-pods': 4 })
  expect(steps).toBeLessThan(4 * 8)
})
