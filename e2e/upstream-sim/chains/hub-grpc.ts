// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import http2, { type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { framed } from '../../grpc/raw-node.ts'
import type { HubChain } from './hub-chain.ts'
import { encode, type Fields } from './protobuf.ts'

const service = '/cosmos.base.tendermint.v1beta1.Service'

/** Serves the network and the latest block of the hub chain over gRPC. Returns the URL. */
export async function serveHubGrpc(chain: HubChain, host: string, port: number): Promise<string> {
  const answers: Readonly<Record<string, () => Fields>> = {
    [`${service}/GetNodeInfo`]: () => ({ 1: { 4: chain.network, 8: { 1: 'on' } } }),
    [`${service}/GetLatestBlock`]: () => ({ 2: { 1: { 2: chain.network, 3: chain.head } } }),
  }
  const server = http2.createServer()
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path = '' }) => {
    const fields = answers[path]?.()
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
    // Status 12 is UNIMPLEMENTED.
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': fields ? '0' : '12' }))
    stream.end(fields && framed(encode(fields)))
  })
  await once(server.listen(port, host), 'listening')
  return `grpc://${host}:${(server.address() as AddressInfo).port}`
}
