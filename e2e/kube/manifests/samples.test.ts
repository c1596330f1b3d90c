// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rpcRouterSchema } from '../../../operator/api/rpc-router.ts'
import { upstreamProviderSchema } from '../../../operator/api/upstream-provider.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

const folder = join(import.meta.dirname, '../../../samples')
const { kubeconfig, namespace } = useNamespace()
const house = useNamespace({ 'rpc.example.com/house-rules': 'enforced' })
const kubectl = kubectlFor(kubeconfig, namespace)
const autoscaler = 'HorizontalPodAutoscaler'
const samples = readdirSync(folder).toSorted()

interface Manifest {
  readonly kind: string
}

function manifestsOf(sample: string): readonly Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(folder, sample), 'utf8'))
  return documents.map((document) => document.toJS() as Manifest)
}

describe.each(samples)('%s', (sample) => {
  const file = join(folder, sample)
  const manifests = manifestsOf(sample)
  const routers = manifests
    .filter(({ kind }) => kind === 'RpcRouter')
    .map((manifest) => rpcRouterSchema.parse(manifest))
  const providers = manifests
    .filter(({ kind }) => kind === 'UpstreamProvider')
    .map((manifest) => upstreamProviderSchema.parse(manifest))

  test('has a comment about its use', () => {
    const [, second = ''] = readFileSync(file, 'utf8').split('# Use it ')
    expect(readFileSync(file, 'utf8')).toMatch(/^# /)
    expect(second).not.toBe('')
  })

  test('is accepted by the API server, and a repeated apply changes nothing', async () => {
    // Controllers may write the status of a policy or an autoscaler in the meantime.
    const counter = sample === 'house-rules.yaml' ? 'generation' : 'resourceVersion'
    const output = ['-o', `jsonpath={.items[?(@.kind!="${autoscaler}")].metadata.${counter}}`]
    const stored = () => printed(kubectl(['get', '-f', file, ...output]))
    await printed(kubectl(['apply', '-f', file]))
    const first = await stored()
    const again = (await printed(kubectl(['apply', '-f', file]))).trim().split('\n')
    expect(again).toHaveLength(manifests.length)
    // The API server never returns stringData, so kubectl always sends it.
    const changed = again.filter((line) => !/^secret\/| unchanged$/.test(line))
    expect(changed).toEqual([])
    expect(await stored()).toBe(first)
  })

  test('has a provider for every endpoint, and an endpoint for every provider', () => {
    for (const { spec } of routers) {
      const wanted = Object.entries(spec.providerSelector?.matchLabels ?? {})
      const selected = providers.filter(({ metadata }) =>
        wanted.every(([key, value]) => metadata.labels?.[key] === value),
      )
      const served = (entry: { chainId: string; apiInterface: string }) =>
        `${entry.chainId} ${entry.apiInterface}`
      expect([...new Set(selected.map((provider) => served(provider.spec)))].toSorted()).toEqual(
        [...new Set(spec.endpoints.map(served))].toSorted(),
      )
    }
  })
})

describe('the house rules', () => {
  const file = join(folder, 'house-rules.yaml')
  beforeAll(() => printed(kubectl(['apply', '-f', file])))
  afterAll(() => printed(kubectl(['delete', '-f', file])))

  const provider = (url: string, labels: Readonly<Record<string, string>>) => ({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'UpstreamProvider',
    metadata: { name: 'house', labels },
    spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url }] },
  })
  const inHouse = kubectlFor(house.kubeconfig, house.namespace)
  const tryOut = (object: unknown) => inHouse(['apply', '--dry-run=server', '-f', '-'], object)

  test('refuse an upstream without TLS, with their own message', async () => {
    await eventually(async () => {
      const { stderr } = await tryOut(provider('http://geth.nodes.svc:8545', { team: 'a' }))
      expect(stderr).toContain('every url of an UpstreamProvider must use TLS (house rule)')
    })
  })

  test('refuse a provider without a team', async () => {
    await eventually(async () => {
      const { stderr } = await tryOut(provider('https://eth.alpha.example', {}))
      expect(stderr).toContain('an UpstreamProvider must have the label team (house rule)')
    })
  })

  test('let the others pass', async () => {
    const outcome = await tryOut(provider('https://eth.alpha.example', { team: 'a' }))
    expect(outcome).toMatchObject({ code: 0 })
  })
})
