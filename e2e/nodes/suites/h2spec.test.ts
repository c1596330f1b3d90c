// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile } from 'node:fs/promises'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EchoServer } from '../../grpc/echo-server.ts'
import { serveRouter } from '../../served/served-router.ts'
import { runTool } from '../../processes/run-tool.ts'
import { quickPrograms } from '../build/go-programs.ts'
import { openGround } from './ground.ts'

const ground = await openGround(quickPrograms)
/** Number of cases in h2spec 2.2.1. */
const allCases = 145

/** Cases of the HTTP/2 conformance suite that fail at a port. */
async function failuresAt(port: number): Promise<string[]> {
  const report = join(ground.directory, `h2spec-${port}.xml`)
  await runTool(ground.cache.program('h2spec'), ['-h', '127.0.0.1', '-p', `${port}`, '-j', report])
  const cases = (await readFile(report, 'utf8')).split('<testcase ').slice(1)
  expect(cases).toHaveLength(allCases)
  return cases
    .filter((each) => each.includes('<failure'))
    .map((each) => /package="([^"]*)" classname="([^"]*)"/.exec(each)?.slice(1).join(' ') ?? each)
}

/** A plain Node server that answers every request at once. */
async function startBareServer(): Promise<number> {
  const server = createServer({ settings: { maxConcurrentStreams: 4_096 } })
  server
    .on('sessionError', () => {})
    .on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {})
      stream.respond({ ':status': 200 })
      stream.end('well')
    })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ground.stack.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('the listener passes every HTTP/2 case that a plain Node server passes', async () => {
  const node = ground.stack.use(await new EchoServer().start())
  const router = await serveRouter({
    chainId: 'ECHO',
    apiInterface: 'grpc',
    specSources: [new URL('../../grpc/echo.yml', import.meta.url).pathname],
    primaries: [{ name: 'node', url: `grpc://127.0.0.1:${node.port}` }],
  })
  const { port } = ground.stack.use(router)
  const bare = await failuresAt(await startBareServer())
  const own = await failuresAt(port)
  expect(bare).toEqual(expect.arrayContaining(own))
})
