// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProgram } from '../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../program/workspace.ts'
import { schemaUrl } from '../../proxy/telemetry/otel/start.ts'
import { freePort } from '../processes/free-ports.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { spansOf, startOtlpReceiver } from './otlp-receiver.ts'

/*
 * Exports of the program, with and without a working receiver.
 */

let workspace: Workspace
let node: SimNode
beforeAll(async () => {
  workspace = await createWorkspace()
  node = await startSimNode({ chain: createChainModel(), name: 'a' })
})
afterAll(async () => {
  await node.stop()
  await workspace[Symbol.asyncDispose]()
})

const traceId = '8af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`

function start(env: Readonly<Record<string, string>>, url = node.url) {
  const config = ethereumConfig([{ name: 'a', url }], { 'set-relay-retry-limit': 0 })
  return startProgram(workspace, config, {
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...env },
  })
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] })
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const answer = await fetch(url, init)
  return answer.headers.get('rpc-guid')
}

test('spans are sent before the router stops', async () => {
  await using collector = await startOtlpReceiver()
  await using router = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  })
  const guid = await ask(router.urls[0]!, { traceparent: parent })
  expect(collector.messages).toEqual([])
  router.kill('SIGINT')
  expect((await router.ended).code).toBe(0)
  const spans = spansOf(collector.messages)
  const [client, server] = [
    spans.find(({ kind }) => kind === 3),
    spans.find(({ kind }) => kind === 2),
  ]
  expect(server).toMatchObject({
    name: 'eth_gasPrice',
    traceId,
    parentSpanId: 'b7ad6b7169203331',
    attributes: { 'rpc_router.guid': guid, 'rpc_router.upstream': 'a' },
    resource: { 'service.name': 'rpc-router', 'deployment.environment.name': 'test' },
  })
  // The conventions of the names, for the resource and for the scope.
  const schemas = JSON.stringify(collector.messages).split(`"schemaUrl":"${schemaUrl}"`)
  expect(schemas.length).toBeGreaterThan(2)
  // The command line may contain secrets.
  expect(JSON.stringify(server?.resource)).not.toContain('process.command')
  expect(client).toMatchObject({ traceId, parentSpanId: server?.spanId })
})

test('the log line of a failed call has its trace id', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`
  await using collector = await startOtlpReceiver()
  await using router = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, nobody)
  await ask(router.urls[0]!)
  router.kill('SIGINT')
  const { stdout } = await router.ended
  const line = stdout.split('\n').find((each) => each.includes('"request failed"'))
  const [span] = spansOf(collector.messages)
  expect(span).toMatchObject({ kind: 2, attributes: { 'error.type': 'no-upstream' } })
  expect(JSON.parse(line ?? '')).toMatchObject({ traceId: span?.traceId })
})

test.each(['nobody', 'a silent one'])(
  'a collector that is down (%s) costs one log line, and no time',
  async (which) => {
    await using collector = await startOtlpReceiver(true)
    const down = `http://127.0.0.1:${await freePort()}`
    await using router = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: which === 'nobody' ? down : collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: which === 'nobody' ? '300' : '600000',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_BSP_MAX_QUEUE_SIZE: '2',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
    })
    for (let at = 0; at < 20; at += 1) expect(await ask(router.urls[0]!)).toBeTruthy()
    if (which === 'nobody') await router.logged('OpenTelemetry failed')
    router.kill('SIGINT')
    const { code, stdout } = await router.ended
    expect(code).toBe(0)
    expect(stdout.split('OpenTelemetry failed').length - 1).toBeLessThanOrEqual(1)
  },
)

test.each([
  ['OTEL_TRACES_SAMPLER', 'sometimes', 'OTEL_TRACES_SAMPLER is sometimes'],
  ['OTEL_TRACES_EXPORTER', 'pigeon', 'Unrecognized OTEL_TRACES_EXPORTER value: pigeon'],
])('%s=%s cannot be used: that is in the log, and calls are served', async (name, value, said) => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  await using router = await start({ ...endpoint, [name]: value })
  expect(await ask(router.urls[0]!)).toBeTruthy()
  expect(router.stdout).toContain(said)
})
