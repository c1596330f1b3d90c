// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { ByteBudget } from '../../../proxy/bytes/byte-budget.ts'
import { VirtualClock } from '../../../proxy/clock/testing/virtual-clock.ts'
import { createGrpcTransport } from '../../../proxy/upstream/wire/grpc/grpc-transport.ts'
import { nodeUrlConfig } from '../../../proxy/upstream/testing/node-url-config.ts'
import type { BodyStream, Outgoing } from '../../../proxy/upstream/wire.ts'
import { freePorts } from '../../processes/free-ports.ts'
import { waitUntil } from '../../processes/eventually.ts'
import { serveRouter } from '../../served/served-router.ts'
import { runTool } from '../../processes/run-tool.ts'
import { quickPrograms } from '../build/go-programs.ts'
import { openGround } from './ground.ts'

/* The public interoperability cases of gRPC, except those that need cloud accounts. */

const ground = await openGround(quickPrograms)
const startMs = 10_000

let direct: number
let routed: number
beforeAll(async () => {
  const { cache, children, signal, stack } = ground
  ;[direct = 0] = await freePorts(1)
  await children.start({
    name: 'grpc-interop-server',
    command: cache.program('grpc-interop-server'),
    args: ['-port', String(direct)],
  })
  await waitUntil('the server serves', startMs, signal, async () => {
    const { code, stderr } = await runCase(direct, ['empty_unary'])
    if (code !== 0) throw new Error(stderr)
    return true
  })
  const router = await serveRouter({
    chainId: 'INTEROP',
    apiInterface: 'grpc',
    specSources: [new URL('interop.yml', import.meta.url).pathname],
    primaries: [{ name: 'server', url: `grpc://127.0.0.1:${direct}` }],
  })
  routed = stack.use(router).port
})

function runCase(port: number, [name, ...flags]: readonly string[]) {
  const server = ['-server_host', '127.0.0.1', '-server_port', String(port)]
  const command = ground.cache.program('grpc-interop-client')
  return runTool(command, [...server, '-test_case', name ?? '', ...flags])
}

/** Client flags for reading load reports of the server. */
const loadReports = [
  '-service_config_json',
  '{"loadBalancingConfig":[{"test_backend_metrics_load_balancer":{}}]}',
]
const often = ['-soak_iterations', '200', '-soak_num_threads', '4']
/** The client's own limits are too short for a busy machine. */
const patient = [
  ...['-soak_overall_timeout_seconds', '120'],
  ...['-soak_per_iteration_max_acceptable_latency_ms', '60000'],
]

test.for([
  ['empty_unary'],
  ['large_unary'],
  ['client_streaming'],
  ['server_streaming'],
  ['ping_pong'],
  ['empty_stream'],
  ['timeout_on_sleeping_server'],
  ['cancel_after_begin'],
  ['cancel_after_first_response'],
  ['status_code_and_message'],
  ['special_status_message'],
  ['custom_metadata'],
  ['unimplemented_method'],
  ['unimplemented_service'],
  ['orca_per_rpc', ...loadReports],
  ['orca_oob', ...loadReports],
  ['rpc_soak', ...often, ...patient],
  ['channel_soak', ...often, ...patient],
])('%s', async (requests) => {
  for (const port of [direct, routed])
    expect(await runCase(port, requests)).toMatchObject({ code: 0, stdout: '' })
})

/** A bidirectional stream of the interoperability service. */
function fullDuplex(body: AsyncIterable<Uint8Array>): Outgoing {
  return {
    verb: 'POST',
    path: '/grpc.testing.TestService/FullDuplexCall',
    headers: ['content-type', 'application/grpc', 'te', 'trailers'],
    body,
  }
}
const oneByte = Buffer.from('000000000412020801', 'hex')

test('a stream survives three idle minutes at a server that closes connections after pings', async () => {
  const clock = new VirtualClock()
  const url = nodeUrlConfig(`grpc://127.0.0.1:${direct}`)
  const transport = createGrpcTransport(url, { clock, budget: new ByteBudget(1e9) })
  ground.stack.defer(() => transport.close())
  const more = Promise.withResolvers<void>()
  async function* questions() {
    yield oneByte
    await more.promise
    yield oneByte
  }
  const { signal } = new AbortController()
  const sent = transport.send(fullDuplex(questions()), signal)
  let reply: Awaited<typeof sent> | null = null
  void sent.then((incoming) => (reply = incoming))
  await expect.poll(() => clock.advance(10).then(() => reply)).not.toBeNull()
  const answers = ((await sent).body as BodyStream)[Symbol.asyncIterator]()
  expect(await answers.next()).toMatchObject({ done: false })
  for (let passedMs = 0; passedMs < 180_000; passedMs += 15_000) {
    await clock.advance(15_000)
    // Gives the request and its answer time.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  more.resolve()
  expect(await answers.next()).toMatchObject({ done: false })
})
