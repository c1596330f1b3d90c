// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ensureAssets } from '../kube/assets.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { eventually } from '../processes/eventually.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace, ethereumConfig } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { type OtlpMessage, spansOf } from './otlp-receiver.ts'

/*
 * The bundle without any node_modules, as in an image, and a real OpenTelemetry Collector that
 * writes to a file.
 */

const root = join(import.meta.dirname, '../..')

beforeAll(async () => {
  await ensureAssets(process.env, ['collector'])
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root })
}, 3_600_000)

test.each(['grpc', 'http/protobuf'])('spans reach a collector by %s', async (protocol) => {
  await using workspace = await createWorkspace()
  await using children = new ChildProcesses(workspace.directory)
  await using node = await startSimNode({ chain: createChainModel(), name: 'a' })
  const [grpcPort, httpPort, port] = await freePorts(3)
  const file = join(workspace.directory, 'got.json')
  const at = (its?: number) => ({ endpoint: `127.0.0.1:${its}` })
  const pipeline = { receivers: ['otlp'], exporters: ['file'] }
  const config = await workspace.write('collector.yml', {
    receivers: { otlp: { protocols: { grpc: at(grpcPort), http: at(httpPort) } } },
    exporters: { file: { path: file, flush_interval: '100ms' } },
    service: { pipelines: { traces: pipeline } },
  })
  const { collector } = await ensureAssets(process.env, ['collector'])
  const args = ['--config', `file:${config}`]
  await children.start({ name: 'collector', command: collector, args })
  await eventually(() => fetch(`http://127.0.0.1:${httpPort}`).then(() => true))

  cpSync(join(root, 'dist'), join(workspace.directory, 'dist'), { recursive: true })
  const served = await workspace.write('router.yml', {
    ...ethereumConfig([node]),
    endpoints: [
      {
        'network-address': `127.0.0.1:${port}`,
        'chain-id': 'ETH1',
        'api-interface': 'jsonrpc',
      },
    ],
  })
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${protocol === 'grpc' ? grpcPort : httpPort}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_SERVICE_NAME: 'bundled',
  }
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const bundle = join(workspace.directory, 'dist/bin/router.mjs')
  const router = await children.start({
    name: 'router',
    command: 'env',
    args: [...variables, process.execPath, bundle, served],
  })
  await eventually(async () => (await askRpc(`http://127.0.0.1:${port}`, 'eth_gasPrice')) !== '')
  router.kill('SIGINT')
  expect([await router.ended, router.tail()]).toEqual([0, expect.not.stringContaining('trouble')])

  const got = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as OtlpMessage)
  const calls = () => spansOf(got()).filter(({ name }) => name === 'eth_gasPrice')
  await expect.poll(() => calls().length).toBeGreaterThan(1)
  const spans = calls()
  const server = spans.find(
    ({ kind, attributes }) => kind === 2 && attributes['rpc_router.upstream'],
  )
  expect(server?.resource['service.name']).toBe('bundled')
  expect(spans.find(({ parentSpanId }) => parentSpanId === server?.spanId)).toMatchObject({
    kind: 3,
    attributes: { 'rpc.method': 'eth_gasPrice', 'server.address': '127.0.0.1' },
  })
})
