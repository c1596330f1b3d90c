// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, describe, expect, test } from 'vitest'
import { accountManifests, rbacManifests, userRoles } from '../../../operator/rbac/rules.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

/*
 * Both kinds in kubectl.
 */

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)
const run = (...args: string[]) => printed(kubectl(args))

const apiVersion = 'rpcrouter.dev/v1alpha1'
const endpoints = [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }]

function router(name: string, spec: object) {
  return { apiVersion, kind: 'RpcRouter', metadata: { name }, spec: { endpoints, ...spec } }
}

function provider(name: string, spec: object) {
  const nodeUrls = [{ url: `https://${name}.example` }]
  const whole = { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls, ...spec }
  return { apiVersion, kind: 'UpstreamProvider', metadata: { name }, spec: whole }
}

beforeAll(async () => {
  const objects = [
    router('fixed', { replicas: 3 }),
    router('scaled', { autoscaling: { maxReplicas: 5 } }),
    router('unset', {}),
    provider('alpha', { groupLabel: 'external' }),
    provider('beta', { chainId: 'BTC' }),
    provider('gamma', { tier: 'backup' }),
  ]
  await printed(kubectl(['apply', '-f', '-'], ...objects))
})

test('kubectl apply of the output of rpc-operator rbac works on an empty cluster', async () => {
  const name = `${namespace}-system`
  const options = {
    namespaces: null,
    serviceAccount: { namespace: name, name },
    lease: { namespace: name, name },
  }
  const objects = [...accountManifests(options), ...rbacManifests(options)]
  const elsewhere = kubectlFor(kubeconfig, name)
  await printed(elsewhere(['apply', '-f', '-'], ...objects))
  const account = `system:serviceaccount:${name}:${name}`
  expect(await run('auth', 'can-i', 'list', 'rpcrouters', '-A', '--as', account)).toContain('yes')
  await run('delete', 'namespace', name, '--wait=false')
  await run('delete', 'clusterrole,clusterrolebinding', name)
})

test('the roles view and edit of a namespace include routers and providers', async () => {
  await printed(kubectl(['apply', '-f', '-'], ...userRoles))
  const may = async (role: string, verb: string, ...kind: readonly string[]): Promise<string> => {
    const output = await run('auth', 'can-i', verb, ...kind, '--as', `${role}er`).catch(String)
    return output.includes('yes') ? 'yes' : 'no'
  }
  for (const role of ['view', 'edit'])
    await run('create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}er`)
  // The cluster aggregates roles with a delay.
  await expect.poll(() => may('edit', 'patch', 'rpcrouters')).toBe('yes')
  await expect.poll(() => may('view', 'list', 'upstreamproviders')).toBe('yes')
  expect(await may('edit', 'patch', 'rpcrouters', '--subresource=scale')).toBe('yes')
  expect(await may('edit', 'get', 'rpcrouters')).toBe('yes')
  expect(await may('edit', 'patch', 'rpcrouters', '--subresource=status')).toBe('no')
  expect(await may('view', 'patch', 'rpcrouters')).toBe('no')
})

describe('kubectl explain', () => {
  test.each([
    ['rpcrouter', 'A fleet of routers behind one Service'],
    ['rpcrouter.spec.endpoints.port', 'Default: 3360'],
    ['rpcr.spec.relay.strategy', 'ENUM: balanced latency sync-freshness availability round-robin'],
    ['rpcr.spec.sharedState.mode', 'Example: Managed'],
    ['rpcr.spec.pod.shutdown', 'Example: {preStopSeconds: 10}'],
    ['upp.spec.nodeUrls.url', 'Example: https://eth.alpha.example/v2/${API_KEY}'],
    ['upp.spec.nodeUrls.auth.tls', 'TLS settings, for https, wss and grpcs URLs.'],
  ])('%s', async (path, says) => {
    const output = (await run('explain', path)).replaceAll(/\s+/g, ' ')
    expect(output).toContain(says)
  })
})

describe('kubectl get', () => {
  test('lists both kinds by their category', async () => {
    const names = (await run('get', 'rpc', '-o', 'name')).trim().split('\n')
    expect(names).toEqual([
      'rpcrouter.rpcrouter.dev/fixed',
      'rpcrouter.rpcrouter.dev/scaled',
      'rpcrouter.rpcrouter.dev/unset',
      'upstreamprovider.rpcrouter.dev/alpha',
      'upstreamprovider.rpcrouter.dev/beta',
      'upstreamprovider.rpcrouter.dev/gamma',
    ])
  })

  test.each([
    ['spec.chainId=ETH1', ['alpha', 'gamma']],
    ['spec.chainId=BTC,spec.apiInterface=jsonrpc', ['beta']],
    ['spec.tier=backup', ['gamma']],
    ['spec.tier!=backup', ['alpha', 'beta']],
    ['spec.groupLabel=external', ['alpha']],
  ])('selects providers by %s', async (selector, names) => {
    const output = await run('get', 'upp', '--field-selector', selector, '-o', 'name')
    const found = output.trim().split('\n')
    expect(found).toEqual(names.map((name) => `upstreamprovider.rpcrouter.dev/${name}`))
  })

  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: 'This generation serves.',
    lastTransitionTime: '2026-01-31T03:00:00Z',
  }

  test('shows a router in columns', async () => {
    const status = {
      conditions: [condition],
      configHash: '0123456789ab',
      image: 'rpc-router:1.2.0',
      summary: { replicas: '3/3', providers: '5/6', serving: '7/8' },
    }
    await writeStatus('rpcr/fixed', status)
    expect(columnsOf(await run('get', 'rpcr', 'fixed'))).toEqual([
      ['NAME', 'READY', 'REPLICAS', 'PROVIDERS', 'LISTENERS', 'AGE'],
      ['fixed', 'True', '3/3', '5/6', '7/8', expect.any(String)],
    ])
    expect(columnsOf(await run('get', 'rpcr', 'fixed', '-o', 'wide'))).toEqual([
      ['NAME', 'READY', 'REPLICAS', 'PROVIDERS', 'LISTENERS', 'REASON', 'CONFIG', 'IMAGE', 'AGE'],
      [
        ...['fixed', 'True', '3/3', '5/6', '7/8', 'Ready', '0123456789ab', 'rpc-router:1.2.0'],
        expect.any(String),
      ],
    ])
    await run('wait', '--for=condition=Ready', 'rpcr/fixed', '--timeout=5s')
  })

  test('shows a provider in columns', async () => {
    const conditions = [condition, { ...condition, type: 'Healthy', status: 'False' }]
    await writeStatus('upp/alpha', { conditions, summary: { routers: '1/2', urls: 1 } })
    expect(columnsOf(await run('get', 'upp', 'alpha', '-o', 'wide'))).toEqual([
      [
        ...['NAME', 'CHAIN', 'INTERFACE', 'READY', 'HEALTHY', 'ROUTERS', 'URLS', 'GROUP'],
        ...['REASON', 'AGE'],
      ],
      [
        ...['alpha', 'ETH1', 'jsonrpc', 'True', 'False', '1/2', '1', 'external', 'Ready'],
        expect.any(String),
      ],
    ])
  })

  async function writeStatus(object: string, status: object): Promise<void> {
    const patch = JSON.stringify({ status })
    await run('patch', object, '--subresource=status', '--type=merge', '-p', patch)
  }

  function columnsOf(table: string): readonly (readonly string[])[] {
    return table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
  }
})

describe('kubectl scale', () => {
  const replicasOf = (name: string) => run('get', 'rpcr', name, '-o', 'jsonpath={.spec.replicas}')

  test.each(['fixed', 'unset'])('writes the replicas of a router: %s', async (name) => {
    await run('scale', `rpcr/${name}`, '--replicas=5')
    expect(await replicasOf(name)).toBe('5')
  })

  test('is refused beside autoscaling, with a message', async () => {
    const { code, stderr } = await kubectl(['scale', 'rpcr/scaled', '--replicas=5'])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'replicas must not be set together with autoscaling, which owns the count',
    )
    expect(await replicasOf('scaled')).toBe('')
  })
})

test('the API server stores what was applied, without defaults', async () => {
  const stored = JSON.parse(await run('get', 'rpcr', 'scaled', '-o', 'json')) as object
  const { spec } = router('scaled', { autoscaling: { maxReplicas: 5 } })
  expect((stored as { spec: unknown }).spec).toEqual(spec)
})

test('other fields of an object that predates a rule can be changed', async () => {
  // A copy of the kind in another group keeps the rule from affecting other tests.
  const group = 'ratcheting.rpcrouter.dev'
  const original = JSON.parse(await run('get', 'crd', crd, '-o', 'json')) as Definition
  const copy = copyOf(original, group)
  const old = { ...provider('old', { groupLabel: 'external' }), apiVersion: `${group}/v1alpha1` }
  await printed(kubectl(['apply', '-f', '-'], copy))
  await run('wait', '--for=condition=Established', `crd/${copy.metadata.name}`, '--timeout=30s')
  await eventually(() => printed(kubectl(['apply', '-f', '-'], old)))
  copy.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.groupLabel.maxLength = 3
  await printed(kubectl(['apply', '-f', '-'], copy))
  const change = (spec: object) => {
    const object = `upstreamproviders.${group}/old`
    return kubectl(['patch', object, '--type=merge', '-p', JSON.stringify({ spec })])
  }
  await eventually(async () => {
    expect(await change({ groupLabel: `other` })).toMatchObject({ code: 1 })
  })
  expect(await change({ tier: 'backup' })).toMatchObject({ code: 0 })
  await run('delete', 'crd', copy.metadata.name)
})

const crd = 'upstreamproviders.rpcrouter.dev'

interface Definition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: object
    readonly versions: readonly [{ readonly schema: OpenApi }]
  }
}

interface OpenApi {
  readonly openAPIV3Schema: {
    readonly properties: {
      readonly spec: { readonly properties: { readonly groupLabel: { maxLength: number } } }
    }
  }
}

function copyOf({ apiVersion: version, kind, spec }: Definition, group: string): Definition {
  const metadata = { name: `upstreamproviders.${group}` }
  const names = { kind: 'UpstreamProvider', plural: 'upstreamproviders' }
  return structuredClone({ apiVersion: version, kind, metadata, spec: { ...spec, group, names } })
}
