// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type Deadline,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

/*
 * A byte service with every feature of gRPC. No bundled spec contains it.
 */

const same = (value: Buffer) => value
const bytes = {
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
}

function method(name: string, requestStream: boolean, responseStream: boolean) {
  return { path: `/test.Echo/${name}`, requestStream, responseStream, ...bytes }
}

export const echoService = {
  Unary: method('Unary', false, false),
  Fail: method('Fail', false, false),
  Silent: method('Silent', false, false),
  Down: method('Down', false, true),
  Up: method('Up', true, false),
  Both: method('Both', true, true),
  FailLater: method('FailLater', false, true),
  Late: method('Late', false, true),
  LateSum: method('LateSum', true, false),
  Reflect: method('Reflect', true, true),
} satisfies ServiceDefinition

/** The common part of all kinds of calls, with the `request` of a call with one message. */
type Call = ServerDuplexStream<Buffer, Buffer> & { readonly request: Buffer }
type Handler = (call: Call, done: sendUnaryData<Buffer>) => void

const both: Handler = (call) => {
  call.on('data', (piece: Buffer) => call.write(piece))
  call.on('end', () => call.end())
}

const handlers: Readonly<Record<keyof typeof echoService, Handler>> = {
  Unary(call, done) {
    call.sendMetadata(echoed(call.metadata, 'initial'))
    done(null, call.request, echoed(call.metadata, 'trailing'))
  },
  Fail({ request }, done) {
    const [code, details] = JSON.parse(request.toString()) as [status, string]
    const metadata = new Metadata()
    metadata.set('grpc-status-details-bin', Buffer.from([1, 2, 254, 255]))
    done({ code, details, metadata })
  },
  Silent() {},
  Down(call) {
    const count = Number(call.request.toString())
    for (let at = 0; at < count; at++) call.write(Buffer.from(`${at}`))
    call.end(echoed(call.metadata, 'trailing'))
  },
  FailLater(call) {
    call.write(Buffer.from('one'))
    setImmediate(() => call.emit('error', { code: status.DATA_LOSS, details: 'lost' }))
  },
  Up(call, done) {
    let length = 0
    call.on('data', (piece: Buffer) => (length += piece.length))
    call.on('end', () => done(null, Buffer.from(`${length}`)))
  },
  Late(call) {
    setTimeout(() => {
      call.write(Buffer.from('late'))
      call.end()
    }, Number(call.request.toString()))
  },
  LateSum(call, done) {
    let sum = 0
    call.on('data', (piece: Buffer) => (sum += Number(piece.toString())))
    call.on('end', () => {
      setTimeout(() => done(null, Buffer.from(`${sum}`)), sum)
    })
  },
  Both: both,
  Reflect: both,
}

/** An echo server that counts its calls. */
export class EchoServer implements AsyncDisposable {
  readonly #server = new Server({ 'grpc.max_receive_message_length': 64 * 1024 * 1024 })
  port = 0
  calls = 0
  cancelled = 0
  readonly deadlines: Deadline[] = []
  readonly metadata: Metadata[] = []

  /** @param port 0 selects a free port */
  async start(port = 0, credentials = ServerCredentials.createInsecure()): Promise<this> {
    const serving = Object.entries(handlers).map(([name, handler]) => {
      const serve: Handler = (call, done) => {
        this.calls += 1
        this.metadata.push(call.metadata)
        this.deadlines.push(call.getDeadline())
        call.on('cancelled', () => (this.cancelled += 1))
        handler(call, done)
      }
      return [name, serve] as const
    })
    const implementation = Object.fromEntries(serving) as unknown as UntypedServiceImplementation
    this.#server.addService(echoService, implementation)
    const bind = promisify(this.#server.bindAsync.bind(this.#server))
    this.port = await bind(`127.0.0.1:${port}`, credentials)
    return this
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
    return Promise.resolve()
  }
}

/** The request's `x-echo-*` entries, as initial or trailing metadata. */
function echoed(from: Metadata, part: 'initial' | 'trailing'): Metadata {
  const metadata = new Metadata()
  for (const name of [`x-echo-${part}`, `x-echo-${part}-bin`])
    for (const value of from.get(name)) metadata.add(name, value)
  return metadata
}
