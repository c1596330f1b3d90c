// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../processes/free-ports.ts'
import { waitUntil } from '../../processes/wait-until.ts'
import { serveRouter } from '../../served/served-router.ts'
import { runTool } from '../run-tool.ts'
import { openGround } from './ground.ts'

/* The public interoperability cases of gRPC, of which those are left out that need somebody's accounts. */

const ground = await openGround()
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

/** What makes the client look at the load that the server reports of itself. */
const loadReports = [
  '-service_config_json',
  '{"loadBalancingConfig":[{"test_backend_metrics_load_balancer":{}}]}',
]
const often = ['-soak_iterations', '200', '-soak_num_threads', '4']

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
  ['rpc_soak', ...often],
  ['channel_soak', ...often],
])('%s', async (asked) => {
  for (const port of [direct, routed])
    expect(await runCase(port, asked)).toMatchObject({ code: 0, stdout: '' })
})
