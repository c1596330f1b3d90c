// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Metadata, ServerCredentials, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority } from '../../proxy/upstream/testing/certificates.ts'
import { serveRouter } from '../served/served-router.ts'
import { EchoClient } from './echo-client.ts'
import { EchoServer } from './echo-server.ts'

const specSources = [new URL('echo.yml', import.meta.url).pathname]
let folder: string
let node: EchoServer

/** A node with a certificate, which requires a client certificate. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'grpc-tls-'))
  const authority = await createAuthority('test authority')
  const stranger = await createAuthority('another authority')
  const server = await authority.issue('localhost')
  const client = await authority.issue('client')
  const files = {
    'ca.pem': authority.cert,
    'stranger-ca.pem': stranger.cert,
    'client.pem': client.cert,
    'client.key': client.key,
  }
  for (const [name, pem] of Object.entries(files)) await writeFile(join(folder, name), pem)
  const keys = { private_key: Buffer.from(server.key), cert_chain: Buffer.from(server.cert) }
  const credentials = ServerCredentials.createSsl(Buffer.from(authority.cert), [keys], true)
  node = await new EchoServer().start(0, credentials)
})
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const mutual = { 'ca-file': 'ca.pem', 'cert-file': 'client.pem', 'key-file': 'client.key' }
const named = { 'server-name': 'localhost' }
const cases: [string, string, Record<string, string>, status][] = [
  ['both sides authenticate', 'grpcs', { ...mutual, ...named }, status.OK],
  ['https works like grpcs', 'https', { ...mutual, ...named }, status.OK],
  ['a node with another name is refused', 'grpcs', mutual, status.UNAVAILABLE],
  [
    'a node with a certificate of another authority is refused',
    'grpcs',
    { ...mutual, ...named, 'ca-file': 'stranger-ca.pem' },
    status.UNAVAILABLE,
  ],
  [
    'a node refuses a router without a certificate',
    'grpcs',
    { 'ca-file': 'ca.pem', ...named },
    status.UNAVAILABLE,
  ],
]
test.each(cases)('%s', async (_, scheme, files, code) => {
  const tls = Object.fromEntries(
    Object.entries(files).map(([key, value]) => [
      key,
      key.endsWith('-file') ? join(folder, value) : value,
    ]),
  )
  await using router = await serveRouter({
    chainId: 'ECHO',
    apiInterface: 'grpc',
    specSources,
    primaries: [{ name: 'node', url: `${scheme}://127.0.0.1:${node.port}` }],
    urlSettings: { node: { 'auth-config': { tls } } },
  })
  using client = new EchoClient(router.port)
  expect(await client.run('Unary', ['hi'], new Metadata())).toMatchObject({ code })
})
