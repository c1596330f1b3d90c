// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  chart,
  imageValues,
  nodePod,
  provider,
  release,
  router,
  startKubectl,
  startNode,
  usePlace,
} from './cluster.ts'

/*
 * From a cluster without an operator to the first answers, by the commands of the chart's README.
 */

const place = usePlace('install')
const { namespace, run, apply } = place
const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
const request = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(call),
}

beforeAll(async () => {
  await release('uninstall', 'rpc-router', '--wait', '--ignore-not-found')
})

test('from helm install to an answer in two minutes', async () => {
  const startMs = performance.now()
  await release('install', 'rpc-router', chart, ...imageValues, '--wait', '--timeout', '2m')
  await startNode(place, 'node')
  await apply(provider(place, 'alpha', 'node'), router('mainnet', { replicas: 2 }))
  await run('wait', '--for=condition=Ready', 'rpcrouter/mainnet', '--timeout=100s')

  const url = `http://mainnet-router.${namespace}.svc:3360`
  const ask = `fetch(${JSON.stringify(url)}, ${JSON.stringify(request)})
    .then(async (answer) => console.log(answer.headers.get('rpc-provider-address'), await answer.text()))`
  await apply(nodePod('client', '-e', ask))
  await run('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/client', '--timeout=30s')
  expect(await run('logs', 'client')).toMatch(/^alpha \{"jsonrpc":"2.0","id":1,"result":"0x/)
  expect(performance.now() - startMs).toBeLessThan(120_000)
})

test('a client outside the cluster gets an answer', async () => {
  const forward = await startKubectl(place, 'port-forward', 'service/mainnet-router', ':3360')
  onTestFinished(() => void forward.kill())
  const [line] = (await once(forward.stdout, 'data')) as [Buffer]
  const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1]
  const answer = await fetch(`http://127.0.0.1:${port}`, request)
  expect(answer.headers.get('rpc-provider-address')).toBe('alpha')
  expect(await answer.json()).toMatchObject({ id: 1, result: expect.stringMatching(/^0x/) })
})

test('kubectl lists both kinds, and explains their fields', async () => {
  // Takes two pod checks, which are half a minute apart.
  await run('wait', '--for=condition=Healthy', 'upp/alpha', '--timeout=120s')
  const rpc = await run('get', 'rpc')
  expect(rpc).toMatch(/NAME +READY +REPLICAS +PROVIDERS +LISTENERS +AGE/)
  expect(rpc).toMatch(/mainnet +True +2\/2 +1\/1 +1\/1 /)
  expect(rpc).toMatch(/NAME +CHAIN +INTERFACE +READY +HEALTHY +ROUTERS +AGE/)
  expect(rpc).toMatch(/alpha +ETH1 +jsonrpc +True +True +1\/1 /)
  expect(await run('get', 'rpcr', '-o', 'wide')).toMatch(/mainnet .* Ready +[0-9a-f]{16} +\S+:\S+/)
  expect(await run('explain', 'rpcrouter.spec.endpoints.port')).toMatch(/Port of the listener/)
  expect(await run('get', 'upp', '--field-selector=spec.chainId=ETH1', '-o', 'name')).toBe(
    'upstreamprovider.rpcrouter.dev/alpha\n',
  )
})

test('an invalid manifest is refused, and the message explains the valid form', async () => {
  const endpoints = [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc', port: 80 }]
  const { code, stderr } = await place.kubectl(
    ['apply', '-f', '-'],
    router('wrong', { endpoints, replicas: 2, autoscaling: { maxReplicas: 3 } }),
  )
  expect(code).not.toBe(0)
  expect(stderr).toContain('spec.endpoints[0].port')
  expect(stderr).toContain(
    'replicas must not be set together with autoscaling, which owns the count',
  )
})

test('an invalid provider reports the reason, and affects no other provider', async () => {
  const before = await run('get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o', 'name')
  const keys = { secretKeyRef: { name: 'nowhere', key: 'alpha' } }
  await apply(
    provider(place, 'keyless', 'node', '${KEY}', { variables: [{ name: 'KEY', valueFrom: keys }] }),
    provider(place, 'elsewhere', 'node', '', { chainId: 'BTC' }),
  )
  const reason = (type: string) => `jsonpath={.status.conditions[?(@.type=="${type}")].reason}`
  await run('wait', '--for=condition=ResolvedRefs=False', 'upp/keyless', '--timeout=30s')
  expect(await run('get', 'upp', 'keyless', '-o', reason('ResolvedRefs'))).toBe('SecretNotFound')
  await run('wait', '--for=condition=Ready=False', 'upp/elsewhere', '--timeout=30s')
  expect(await run('get', 'upp', 'elsewhere', '-o', reason('Accepted'))).toBe('ChainNotServed')
  expect(await run('get', 'rpcr', 'mainnet', '-o', reason('Accepted'))).toBe('PartiallyAccepted')
  expect(await run('get', 'rpc')).toMatch(/mainnet +True +2\/2 /)
  expect(await run('get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o', 'name')).toBe(
    before,
  )
})
