// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import { main } from './main.ts'

const router = `
apiVersion: rpcrouter.dev/v1alpha1
kind: RpcRouter
metadata: { name: mainnet }
spec:
  endpoints: [{ name: eth1, chainId: ETH1, apiInterface: jsonrpc }]
  providerSelector: {}
`
const provider = `
apiVersion: rpcrouter.dev/v1alpha1
kind: UpstreamProvider
metadata: { name: alpha }
spec:
  chainId: ETH1
  apiInterface: jsonrpc
  variables: [{ name: KEY, valueFrom: { secretKeyRef: { name: keys, key: alpha } } }]
  nodeUrls: [{ url: 'https://alpha.example/\${KEY}' }]
`
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rpc-operator-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function run(argv: readonly string[], input = '') {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text
    },
  })
  const code = await main(argv, {
    stdin: (async function* () {
      yield input
    })(),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    environment: {},
  })
  return { code, ...written }
}

describe('render', () => {
  test('prints the objects as YAML for kubectl', async () => {
    const { code, stdout, stderr } = await run(['render', '-f', '-'], `${router}---${provider}`)
    expect([code, stderr]).toEqual([0, ''])
    const objects = parseAllDocuments(stdout).map((each) => each.toJS() as { kind: string })
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'ServiceAccount',
      'NetworkPolicy',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ])
    expect(stdout).toContain(`image: rpc-router:${packageJson.version}`)
  })

  test('prints JSON, with another namespace and another image', async () => {
    const flags = ['-o', 'json', '-n', 'rpc', '--router-image', 'example.com/router:1']
    const { stdout } = await run(['render', '-f', '-', ...flags], `${router}---${provider}`)
    const { items } = JSON.parse(stdout) as { items: { metadata: { namespace: string } }[] }
    expect(items.every(({ metadata }) => metadata.namespace === 'rpc')).toBe(true)
    expect(stdout).toContain('"image": "example.com/router:1"')
  })

  test('adds the default pull secrets to the pods of routers and Redis without their own', async () => {
    const spec = 'spec:\n  sharedState: { mode: Managed }\n'
    const pullSecrets = async (of: string) => {
      const input = `${router.replace('spec:\n', `${spec}${of}`)}---${provider}`
      const flags = ['-o', 'json', '--image-pull-secrets', 'one,two']
      const { stdout } = await run(['render', '-f', '-', ...flags], input)
      const { items } = JSON.parse(stdout) as { items: { kind: string; spec?: any }[] }
      return items
        .filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
        .map((object) => object.spec.template.spec.imagePullSecrets)
    }
    const ofFlag = [{ name: 'one' }, { name: 'two' }]
    expect(await pullSecrets('')).toEqual([ofFlag, ofFlag])
    const own = '  pod: { imagePullSecrets: [{ name: own }] }\n'
    expect(await pullSecrets(own)).toEqual([[{ name: 'own' }], [{ name: 'own' }]])
    expect(await pullSecrets('  pod: { imagePullSecrets: [] }\n')).toEqual([[], []])
  })

  test('prints the valid objects and reports the faults', async () => {
    const other = provider.replaceAll('name: alpha', 'name: beta').replace('ETH1', 'ETH2')
    const { code, stdout, stderr } = await run(
      ['render', '-f', '-'],
      `${router}---${provider}---${other}`,
    )
    expect(code).toBe(2)
    expect(stdout).toContain('kind: Deployment')
    expect(stderr).toBe(
      'rpc-operator: error: UpstreamProvider default/beta: spec.chainId: the RpcRouter mainnet has no endpoint for ETH2 jsonrpc, only for ETH1 jsonrpc\n',
    )
  })

  test.each([
    ['everything', '${KEY}', true],
    ['its port', 'https://a.example:${KEY}', true],
    ['the port of a WebSocket', 'wss://a.example:${KEY}', false],
  ])('accepts a URL with %s in a Secret', async (_, url, skips) => {
    const input = `${router}---${provider.replace('https://alpha.example/${KEY}', url)}`
    const { code, stdout, stderr } = await run(['render', '-f', '-'], input)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.includes('skip-websocket-verification: true')).toBe(skips)
  })

  test('is deterministic', async () => {
    const input = `${router}---${provider}`
    const [first, second] = [
      await run(['render', '-f', '-'], input),
      await run(['render', '-f', '-'], input),
    ]
    expect(second).toEqual(first)
  })
})

describe('validate', () => {
  test('reports success', async () => {
    const input = `${router}  skipWebsocketVerification: true\n---${provider}`
    const { code, stdout, stderr } = await run(['validate', '-f', '-'], input)
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      'The operator would accept the manifests: 1 RpcRouter, 1 UpstreamProvider.\nThe API server also checks rules between fields, immutable fields and policies: kubectl apply --dry-run=server -f FILES\n',
    ])
  })

  test('reads YAML as kubectl does', async () => {
    const spec = "  skipWebsocketVerification: on\n  replicas: 010\n  relay: { integrity: 'off' }\n"
    const input = `${router}${spec}---${provider}`
    expect(await run(['validate', '-f', '-'], input)).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await run(['render', '-f', '-'], input)
    expect(stdout).toContain('replicas: 8\n')
  })

  test('reads directories and skips other kinds', async () => {
    await writeFile(join(folder, 'a.yaml'), `${router}  skipWebsocketVerification: true\n`)
    await writeFile(join(folder, 'b.yml'), provider)
    await writeFile(join(folder, 'c.json'), JSON.stringify({ apiVersion: 'v1', kind: 'Namespace' }))
    await writeFile(join(folder, 'notes.txt'), 'not: [yaml')
    expect(await run(['validate', '-f', folder])).toMatchObject({ code: 0, stderr: '' })
  })

  test.each([
    ['no file name', ['validate'], '', 'Name files with -f.'],
    ['no such file', ['validate', '-f', 'nowhere.yaml'], '', 'nowhere.yaml: there is no such file'],
    [
      'none of our kinds',
      ['validate', '-f', '-'],
      'kind: Pod',
      'The files contain no RpcRouter and no UpstreamProvider.',
    ],
    ['invalid YAML', ['validate', '-f', '-'], 'a: [', 'standard input: document 1, line 1: '],
    [
      'an unresolved alias',
      ['validate', '-f', '-'],
      `${router}---\nkind: *nope`,
      'standard input: document 2, line 9: Unresolved alias',
    ],
    [
      'an unresolved alias in render',
      ['render', '-f', '-'],
      'kind: *nope',
      'standard input: document 1, line 1: Unresolved alias',
    ],
    [
      'text instead of an object',
      ['validate', '-f', '-'],
      'just text',
      'standard input: document 1, line 1: not a Kubernetes object: it has no kind',
    ],
    [
      'an unknown kind of our group',
      ['validate', '-f', '-'],
      'apiVersion: rpcrouter.dev/v1\nkind: RpcRoutr\nmetadata: { name: a }',
      'standard input: RpcRoutr default/a: rpcrouter.dev has no kind RpcRoutr',
    ],
    [
      'a wrong value',
      ['validate', '-f', '-'],
      provider.replace('jsonrpc', 'json'),
      'standard input: UpstreamProvider default/alpha: spec.apiInterface: ',
    ],
    [
      'an enum value that YAML reads as a boolean',
      ['validate', '-f', '-'],
      `${router}  relay: { integrity: off }\n`,
      'standard input: RpcRouter default/mainnet: spec.relay.integrity: must be one of ',
    ],
    [
      'a label that YAML reads as a boolean',
      ['validate', '-f', '-'],
      router.replace('name: mainnet', 'name: mainnet, labels: { team: yes }'),
      'standard input: RpcRouter default/mainnet: metadata.labels.team: must be text, not true. YAML reads yes, no, on, off, y and n without quotes as true or false: write a text in quotes\n',
    ],
    [
      'an invalid quantity',
      ['validate', '-f', '-'],
      `${router}  pod: { resources: { requests: { memory: lots } } }\n`,
      'standard input: RpcRouter default/mainnet: spec.pod.resources.requests.memory: memory must be a quantity such as 500m, 256Mi or 2\n',
    ],
    [
      'an unknown field',
      ['validate', '-f', '-'],
      provider.replace('variables:', 'variabels:'),
      'standard input: UpstreamProvider default/alpha: unknown field "spec.variabels"',
    ],
    [
      'another API version',
      ['validate', '-f', '-'],
      provider.replace('v1alpha1', 'v1'),
      'standard input: UpstreamProvider default/alpha: apiVersion must be rpcrouter.dev/v1alpha1, not rpcrouter.dev/v1',
    ],
    [
      'an unknown chain of an unselected provider',
      ['validate', '-f', '-'],
      provider.replace('ETH1', 'ETH11'),
      'UpstreamProvider default/alpha: spec.chainId: No chain spec has the id "ETH11". Did you mean ETH1?',
    ],
    [
      'an endpoint without providers',
      ['validate', '-f', '-'],
      router,
      'RpcRouter default/mainnet: spec.endpoints[eth1]: no UpstreamProvider of the namespace default that providerSelector selects serves ETH1 jsonrpc',
    ],
    [
      'an endpoint whose provider is refused in the same files',
      ['validate', '-f', '-'],
      `${router}---${provider.replace('https://', 'ftp://')}`,
      'RpcRouter default/mainnet: spec.endpoints[eth1]: no accepted UpstreamProvider serves ETH1 jsonrpc; selected but not accepted: alpha\n',
    ],
    [
      'an endpoint, beside a refused provider that its router does not select',
      ['validate', '-f', '-'],
      `${router.replace('{}', '{ matchLabels: { pool: a } }')}---${provider.replace('jsonrpc', 'json')}`,
      'RpcRouter default/mainnet: spec.endpoints[eth1]: no UpstreamProvider of the namespace default that providerSelector selects serves ETH1 jsonrpc',
    ],
    [
      'an invalid label of pods',
      ['validate', '-f', '-'],
      `${router}  pod: { labels: { -x: why } }\n---${provider}`,
      'standard input: RpcRouter default/mainnet: spec.pod.labels: the key "-x" must have at most 63 letters',
    ],
  ])('%s', async (_, argv, input, sentence) => {
    const { code, stderr } = await run(argv, input)
    expect(code).toBe(2)
    expect(stderr).toContain(`rpc-operator: error: ${sentence}`)
  })

  const password = provider.replace('alpha.example', 'me:hunter2@alpha.example')
  const hidden = provider.replace('https://alpha.example/', '')
  test.each([
    [
      'a literal password',
      password,
      'UpstreamProvider default/alpha: spec.nodeUrls[0].url: a pass',
    ],
    [
      'a hidden port',
      hidden,
      'RpcRouter default/mainnet: The NetworkPolicy lets the pods connect ',
    ],
    ['no subscriptions', provider, 'RpcRouter default/mainnet: Subscriptions of ETH1 jsonrpc are '],
  ])('succeeds with a warning for %s', async (_, one, sentence) => {
    const input = `${router}---${one}`
    const { code, stdout, stderr } = await run(['validate', '-f', '-'], input)
    expect(code).toBe(0)
    expect(stdout).toContain('would accept')
    expect(stderr).toContain(`rpc-operator: warning: ${sentence}`)
    const json = await run(['validate', '-o', 'json', '-f', '-'], input)
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(json.stdout)).toMatchObject({
      valid: true,
      problems: [],
      warnings: expect.arrayContaining([expect.stringContaining(sentence)]),
    })
  })

  test('neither refuses nor warns about the unknown value of a Secret', async () => {
    const input = `${router}  skipWebsocketVerification: false\n---${hidden}`
    expect(await run(['validate', '-f', '-'], input)).toMatchObject({ code: 0 })
    const { stderr } = await run(['validate', '-f', '-'], `${router}---${hidden}`)
    expect(stderr).not.toContain('Subscriptions')
  })

  test('prints JSON', async () => {
    const { code, stdout } = await run(['validate', '-o', 'json', '-f', '-'], router)
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      valid: false,
      problems: [expect.any(String)],
    })
  })
})

describe('rbac', () => {
  test('prints the account, a role for the whole cluster, one for the lease, and those of users', async () => {
    const { stdout } = await run(['rbac'])
    const objects = parseAllDocuments(stdout).map((each) => each.toJS() as { kind: string })
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'ClusterRole',
      'ClusterRole',
    ])
    expect(stdout).not.toContain("'*'")
  })

  test('prints a role for each given namespace, and none for the cluster', async () => {
    const { stdout } = await run(['rbac', '--namespaces', 'a,b', '--namespaces', 'a'])
    const objects = parseAllDocuments(stdout).map((each) => each.toJS() as { kind: string })
    expect(objects.filter(({ kind }) => kind === 'Role')).toHaveLength(3)
    expect(stdout).not.toContain('ClusterRole')
    expect(stdout).not.toContain('kind: Namespace')
    expect(stdout).toContain('kind: ServiceAccount')
    // The name of the lease role depends on the namespaces, so that installations can coexist.
    expect(stdout).toContain('name: rpc-router-operator-lease.rpc-router-operator.a.b')
  })
})

test.each([
  [
    'a wrong command line',
    ['--workers', 'x'],
    2,
    'rpc-operator: error: --workers "x" must be an integer from 1 to 256.\n',
  ],
  [
    'no cluster',
    ['run', '--kubeconfig', '/nowhere/config'],
    1,
    'the kubeconfig /nowhere/config cannot be read',
  ],
])('%s is reported', async (_, argv, code, text) => {
  const ended = await run(argv)
  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(text)
})

test('version and help', async () => {
  expect((await run(['version'])).stdout).toBe(`${packageJson.version}\n`)
  expect((await run(['--help'])).stdout).toContain('Exit codes: 0 done')
})
