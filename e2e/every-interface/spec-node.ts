// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { Metadata, Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js'
import type { ChainInterface } from '../../proxy/chain/types.ts'
import { MirrorNode, type ReceivedRequest } from '../rest/mirror-node.ts'
import { keyOf, specAnswers, type SpecAnswer } from './spec-answers.ts'

/** A node for one interface of any chain, which passes the verifications of the spec. */
export interface SpecNode extends AsyncDisposable {
  readonly name: string
  readonly url: string
}

/** The answer to any other request, which repeats the request. */
export function echoOf(request: string): string {
  return `asked: ${request}`
}

/** @param grpcMethods gRPC methods to serve in addition to the spec's probes */
export async function startSpecNode(
  offered: ChainInterface,
  grpcMethods: readonly string[],
): Promise<SpecNode> {
  const answers = specAnswers(offered)
  if (offered.apiInterface === 'grpc') return startGrpcNode(answers, grpcMethods)
  const fallback = offered.apiInterface === 'rest' ? answerPath : answerRpc
  return new MirrorNode('node', (request, response) => {
    const known = answers.get(keyOf(request.verb, request.target, request.body.toString()))
    response.setHeader('content-type', 'application/json')
    for (const [name, value] of Object.entries(known?.headers ?? {}))
      response.setHeader(name, value)
    if (known) response.end(known.body)
    else fallback(request, response)
  }).start()
}

function answerPath({ verb, target }: ReceivedRequest, response: ServerResponse): void {
  response.end(JSON.stringify(echoOf(`${verb} ${target}`)))
}

/** Serves JSON-RPC by POST, and Tendermint's URI style by GET. */
function answerRpc({ verb, target, body }: ReceivedRequest, response: ServerResponse): void {
  const { id, method } =
    verb === 'GET'
      ? { id: -1, method: target.slice(1) }
      : (JSON.parse(body.toString()) as { id: unknown; method: string })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: echoOf(method) }))
}

const same = (value: Buffer) => value

async function startGrpcNode(
  answers: ReadonlyMap<string, SpecAnswer>,
  methods: readonly string[],
): Promise<SpecNode> {
  const server = new Server()
  const paths = [...answers.keys()].map((key) => key.split(' ')[1] as string)
  for (const path of new Set([...paths, ...methods.map((method) => `/${method}`)])) {
    const known = answers.get(keyOf('POST', path, ''))
    const handle = (_: unknown, done: sendUnaryData<Buffer>) => {
      const metadata = new Metadata()
      for (const [name, value] of Object.entries(known?.headers ?? {})) metadata.set(name, value)
      done(null, known?.body ?? Buffer.from(echoOf(path.slice(1))), metadata)
    }
    server.register(path, handle, same, same, 'unary')
  }
  const bind = promisify(server.bindAsync.bind(server))
  const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure())
  return {
    name: 'node',
    url: `grpc://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => Promise.resolve(server.forceShutdown()),
  }
}
