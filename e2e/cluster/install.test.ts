// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { findAssets } from '../kube/assets.ts'
import { eventually } from '../processes/eventually.ts'
import { helm, kubectlFor, printed } from '../kube/kubectl.ts'

/*
 * From an empty cluster to the first answer, with the commands of the chart's README. All pods run in namespaces that enforce the
 * profile "restricted".
 */

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'charts/rpc-router')
const kubeconfig = process.env['KUBECONFIG'] ?? ''
const images = process.env['E2E_IMAGES'] ?? 'localhost/'
const routerImage = `${images}rpc-router:${packageJson.version}`
const [system, namespace] = ['rpc-router-system', 'rpc-e2e']
const canary = `canary-${randomBytes(8).toString('hex')}`
const kubectl = kubectlFor(kubeconfig, namespace)
const run = (...args: string[]) => printed(kubectl(args))
const apply = (...objects: unknown[]) => printed(kubectl(['apply', '-f', '-'], ...objects))
const release = (...args: string[]) => printed(helm([...args, '--namespace', system], kubeconfig))
let folder = ''
let forward: ChildProcess | undefined

const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
const podSecurity = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }

/** A pod that runs a program of Node: the images have no shell. */
function nodePod(name: string, args: readonly string[], volumes: readonly object[] = []) {
  const volumeMounts = volumes.length > 0 ? [{ name: 'program', mountPath: '/program' }] : []
  const container = {
    name: 'node',
    image: routerImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/local/bin/node', ...args],
    securityContext: restricted,
    volumeMounts,
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      securityContext: podSecurity,
      automountServiceAccountToken: false,
      containers: [container],
      volumes,
    },
  }
}

/** What an engineer would ask for. */
async function dump(): Promise<void> {
  const questions = [
    ['get', 'nodes,pods,deployments,rpcrouters,upstreamproviders', '-A', '-o', 'wide'],
    ['get', 'events', '-A', '--sort-by=.lastTimestamp'],
    ['describe', 'rpcrouters,upstreamproviders,pods'],
    ['-n', system, 'logs', '-l', 'app.kubernetes.io/component=operator', '--prefix', '--tail=50'],
    ['logs', '-l', 'app.kubernetes.io/component=router', '--prefix', '--tail=50'],
  ]
  for (const question of questions) {
    const { stdout, stderr } = await kubectl(question)
    process.stderr.write(`\n$ kubectl ${question.join(' ')}\n${stdout}${stderr}`)
  }
}

beforeAll(async () => {
  const [command = '', ...args] = (process.env['E2E_LOAD'] ?? '').split(' ')
  for (const name of [routerImage, `${images}rpc-router-operator:${packageJson.version}`])
    await promisify(execFile)(command, [...args, name])
  folder = await mkdtemp(join(tmpdir(), 'e2e-'))
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  for (const name of [system, namespace])
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
})

afterAll(async () => {
  forward?.kill()
  await rm(folder, { recursive: true })
  if (process.env['KEEP']) return
  await kubectl(['delete', 'namespace', namespace])
  await helm(['uninstall', 'rpc-router', '--namespace', system, '--wait'], kubeconfig)
  await kubectl(['delete', 'namespace', system])
  await kubectl(['delete', 'crd', 'rpcrouters.rpcrouter.dev', 'upstreamproviders.rpcrouter.dev'])
})

test('from helm install to an answer in two minutes', async () => {
  onTestFailed(dump)
  const startMs = performance.now()
  await release(
    ...['install', 'rpc-router', chart, '--wait', '--timeout', '2m'],
    ...['--set', `image.repository=${images}rpc-router-operator`],
    ...['--set', `routerImage.repository=${images}rpc-router`],
  )
  await startNode()
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'provider-keys' },
      stringData: { alpha: canary },
    },
    {
      apiVersion: 'rpcrouter.dev/v1alpha1',
      kind: 'UpstreamProvider',
      metadata: { name: 'alpha', labels: { pool: 'mainnet' } },
      spec: {
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        variables: [
          {
            name: 'API_KEY',
            valueFrom: { secretKeyRef: { name: 'provider-keys', key: 'alpha' } },
          },
        ],
        nodeUrls: [{ url: `http://node.${namespace}.svc:9001/\${API_KEY}` }],
      },
    },
    {
      apiVersion: 'rpcrouter.dev/v1alpha1',
      kind: 'RpcRouter',
      metadata: { name: 'mainnet' },
      spec: {
        endpoints: [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }],
        skipWebsocketVerification: true,
        replicas: 2,
        providerSelector: { matchLabels: { pool: 'mainnet' } },
      },
    },
  )
  await run('wait', '--for=condition=Ready', 'rpcrouter/mainnet', '--timeout=100s')

  // A client in the cluster.
  const url = `http://mainnet-router.${namespace}.svc:3360`
  const options = { method: 'POST', body: JSON.stringify(call) }
  const ask = `fetch(${JSON.stringify(url)}, ${JSON.stringify({
    ...options,
    headers: { 'content-type': 'application/json' },
  })}).then(async (answer) => console.log(answer.headers.get('rpc-provider-address'), await answer.text()))`
  await apply(nodePod('client', ['-e', ask]))
  await run('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/client', '--timeout=30s')
  expect(await run('logs', 'client')).toMatch(/^alpha \{"jsonrpc":"2.0","id":1,"result":"0x/)
  expect(performance.now() - startMs).toBeLessThan(120_000)
})

test('a client outside of the cluster gets an answer', async () => {
  onTestFailed(dump)
  const { kubectl: program } = await findAssets(process.env)
  forward = spawn(program!, ['-n', namespace, 'port-forward', 'service/mainnet-router', ':3360'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(forward.stdout!, 'data')) as [Buffer]
  const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1]
  const answer = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  expect(answer.headers.get('rpc-provider-address')).toBe('alpha')
  expect(await answer.json()).toMatchObject({ id: 1, result: expect.stringMatching(/^0x/) })
})

test('kubectl shows both kinds, and two ready pods', async () => {
  onTestFailed(dump)
  const rpc = await run('get', 'rpc')
  expect(rpc).toMatch(/mainnet +True +2\/2 +1\/1 +1 /)
  expect(rpc).toMatch(/alpha +ETH1 +jsonrpc +True /)
})

test('a replica of the operator leads, and the other one is ready to', async () => {
  onTestFailed(dump)
  const deployment = ['-n', system, 'get', 'deployment', 'rpc-router-operator']
  const ready = await run(...deployment, '-o', 'jsonpath={.status.readyReplicas}')
  expect(ready).toBe('2')
  const leader = ['-n', system, 'get', 'lease', 'rpc-router-operator', '-o']
  const before = await run(...leader, 'jsonpath={.spec.holderIdentity}')
  await run('-n', system, 'delete', 'pod', before.split('_')[0] ?? '')
  await eventually(async () => {
    const after = await run(...leader, 'jsonpath={.spec.holderIdentity}')
    expect(after).not.toBe('')
    expect(after).not.toBe(before)
  }, 30_000)
})

test('the key is nowhere but in its Secret', async () => {
  onTestFailed(dump)
  const kinds = 'configmaps,pods,deployments,replicasets,events,rpcrouters,upstreamproviders'
  const places = [
    await run('get', kinds, '-o', 'yaml'),
    await run('logs', '-l', 'app.kubernetes.io/component=router', '--tail=-1'),
    await run('-n', system, 'logs', '-l', 'app.kubernetes.io/component=operator', '--tail=-1'),
  ]
  for (const text of places) {
    expect(text).not.toBe('')
    expect(text).not.toContain(canary)
    expect(text).not.toContain(Buffer.from(canary).toString('base64'))
  }
})

/** Asks at a steady pace for a time, then prints how many calls succeeded, and the first failures. */
const steadyClient = (url: string, seconds: number) => `
  const end = Date.now() + ${seconds * 1_000}
  const failures = []
  let succeeded = 0
  const ask = async () => {
    try {
      const answer = await fetch(${JSON.stringify(url)}, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify(call))},
      })
      const text = await answer.text()
      if (/"result":"0x/.test(text)) succeeded++
      else failures.push(answer.status + ' ' + text.slice(0, 200))
    } catch (error) {
      failures.push(String(error.cause ?? error))
    }
  }
  const asked = []
  const timer = setInterval(async () => {
    if (Date.now() < end) return void asked.push(ask())
    clearInterval(timer)
    await Promise.all(asked)
    console.log(JSON.stringify({ succeeded, failed: failures.length, failures: failures.slice(0, 5) }))
  }, 20)`

test('no call fails while pods are replaced and deleted', async () => {
  onTestFailed(dump)
  const url = `http://mainnet-router.${namespace}.svc:3360`
  await apply(nodePod('steady', ['-e', steadyClient(url, 100)]))
  await run('wait', '--for=condition=Ready', 'pod/steady', '--timeout=60s')
  await run('rollout', 'restart', 'deployment/mainnet-router')
  await run('rollout', 'status', 'deployment/mainnet-router', '--timeout=80s')
  const pods = ['get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o']
  const running = '--field-selector=status.phase=Running'
  const names = await run(...pods, 'jsonpath={.items[*].metadata.name}', running)
  await run('delete', 'pod', '--wait=false', names.split(' ').at(-1) ?? '')
  await run('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/steady', '--timeout=150s')
  const result = JSON.parse(await run('logs', 'steady')) as { succeeded: number }
  expect(result).toEqual({ succeeded: expect.any(Number), failed: 0, failures: [] })
  expect(result.succeeded).toBeGreaterThan(1_000)
}, 300_000)

test('the router serves without its operator, and the next operator takes it over', async () => {
  onTestFailed(dump)
  const pods = ['get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o', 'name']
  const before = await run(...pods)
  await release('uninstall', 'rpc-router', '--wait')
  expect(await run('get', 'rpcr', 'mainnet', '-o', 'name')).toContain('mainnet')
  await release(
    ...['install', 'rpc-router', chart, '--wait', '--timeout', '2m'],
    ...['--set', `image.repository=${images}rpc-router-operator`],
    ...['--set', `routerImage.repository=${images}rpc-router`],
  )
  await run('annotate', 'rpcrouter/mainnet', 'e2e.example.com/seen=true')
  await run('wait', '--for=condition=Ready', 'rpcrouter/mainnet', '--timeout=60s')
  expect(await run(...pods)).toBe(before)
})

/** A simulated Ethereum node in a pod, behind a Service. */
async function startNode(): Promise<void> {
  const program = join(folder, 'main.mjs')
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  }
  await build({
    ...{ entryPoints: [join(root, 'e2e/upstream-sim/main.ts')], outfile: program, banner },
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node24', minify: true },
  })
  await run('create', 'configmap', 'node-program', `--from-file=main.mjs=${program}`)
  const args = ['/program/main.mjs', '--host', '0.0.0.0', '--nodes', '1', '--block-time-ms', '2000']
  await apply(nodePod('node', args, [{ name: 'program', configMap: { name: 'node-program' } }]), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'node' },
    spec: { selector: { app: 'node' }, ports: [{ port: 9001 }] },
  })
  await run('wait', '--for=condition=Ready', 'pod/node', '--timeout=60s')
}
