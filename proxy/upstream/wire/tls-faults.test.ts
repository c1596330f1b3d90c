// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { systemClock as clock } from '../../clock/clock.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import { createAuthority, selfSigned } from '../testing/certificates.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import type { Transport } from '../wire.ts'
import { createGrpcTransport } from './grpc/grpc-transport.ts'
import { createHttpTransport } from './http/http-transport.ts'
import { createWebSocketTransport } from './ws/ws-transport.ts'

const wires: Readonly<Record<string, (config: NodeUrlConfig) => Transport>> = {
  https: (config) => createHttpTransport(config, { clock, budget: new ByteBudget(1e6) }),
  wss: (config) => createWebSocketTransport(config, { clock, subscriptionsPerConnection: 1 }),
  grpcs: (config) => createGrpcTransport(config, { clock, budget: new ByteBudget(1e6) }),
}

/** A kind of server, and the readable message about it. */
const faults: readonly (readonly [name: string, words: string])[] = [
  ['self-signed', 'the certificate is self-signed'],
  ['unknown authority', 'the certificate is of an unknown authority'],
  ['another name', 'the certificate is for another name'],
  ['expired', 'the certificate has expired'],
  ['not valid yet', 'the certificate is not valid yet'],
  ['plain HTTP', 'the server does not speak TLS'],
  ['an old TLS', 'the server speaks another version of TLS'],
  ['other ciphers', 'the server refuses the handshake: .*'],
]

const servers = new Map<string, Server>()
const sockets = new Set<Socket>()
let folder = ''

async function listen(name: string, server: Server): Promise<void> {
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.set(name, server)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tls-faults-'))
  const authority = await createAuthority('test authority')
  const stranger = await createAuthority('another authority')
  writeFileSync(join(folder, 'ca.pem'), authority.cert)
  const right = await authority.issue('localhost')
  const serve = (name: string, options: tls.TlsOptions) =>
    listen(name, tls.createServer({ ALPNProtocols: ['h2', 'http/1.1'], ...options }))
  await serve('self-signed', await selfSigned())
  await serve('unknown authority', await stranger.issue('localhost'))
  await serve('another name', await authority.issue('node.example'))
  await serve('expired', await authority.issue('localhost', [], { from: -2, to: -1 }))
  await serve('not valid yet', await authority.issue('localhost', [], { from: 1, to: 2 }))
  await serve('an old TLS', {
    ...right,
    ...{ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
  })
  await serve('other ciphers', {
    ...right,
    ...{ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-CAMELLIA128-SHA256:NULL-SHA256:@SECLEVEL=0' },
  })
  await listen(
    'plain HTTP',
    http.createServer((_, response) => response.end('{}')),
  )
})

afterAll(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.values()) server.close()
  rmSync(folder, { recursive: true })
})

describe.each(Object.keys(wires))('over %s', (scheme) => {
  test.each(faults)('%s has a readable message', async (name, words) => {
    const { port } = (servers.get(name) as Server).address() as AddressInfo
    const ca = { 'ca-file': join(folder, 'ca.pem') } as NodeUrlConfig['tls']
    const config = nodeUrlConfig(`${scheme}://localhost:${port}`, { tls: ca })
    const transport = wires[scheme]?.(config) as Transport
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m"}')
    const sent = transport.send({ verb: 'POST', path: '', headers: [], body }, new Cancellation())
    await expect(sent).rejects.toMatchObject({
      fault: 'tls',
      sent: false,
      message: expect.stringMatching(new RegExp(`^${words}, [A-Z0-9_/]+$`)) as string,
    })
    await transport.close()
  })
})
