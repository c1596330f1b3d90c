// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type Deadline,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
  type sendUnaryData,
} from '@grpc/grpc-js'

/*
 * A service of bytes that does whatever gRPC can: nothing of it is known to any chain's spec.
 */

const bytes = {
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: (value: Buffer) => value,
  responseDeserialize: (value: Buffer) => value,
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

/** What its calls have seen. */
export class EchoServer implements AsyncDisposable {
  readonly #server = new Server({ 'grpc.max_receive_message_length': 64 * 1024 * 1024 })
  port = 0
  calls = 0
  cancelled = 0
  readonly deadlines: Deadline[] = []
  readonly metadata: Metadata[] = []

  /** @param port 0 takes a free one */
  async start(port = 0, credentials = ServerCredentials.createInsecure()): Promise<this> {
    const both = (call: ServerDuplexStream<Buffer, Buffer>) => {
      this.#saw(call)
      call.on('data', (piece: Buffer) => call.write(piece))
      call.on('end', () => {
        call.end()
      })
      call.on('cancelled', () => (this.cancelled += 1))
    }
    this.#server.addService(echoService, {
      Unary: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.#saw(call)
        call.sendMetadata(echoed(call.metadata, 'initial'))
        done(null, call.request, echoed(call.metadata, 'trailing'))
      },
      Fail: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.#saw(call)
        const [code, details] = JSON.parse(call.request.toString()) as [status, string]
        const metadata = new Metadata()
        metadata.set('grpc-status-details-bin', Buffer.from([1, 2, 254, 255]))
        const error: Partial<StatusObject> = { code, details, metadata }
        done(error)
      },
      Silent: (call: ServerUnaryCall<Buffer, Buffer>) => {
        this.#saw(call)
        call.on('cancelled', () => (this.cancelled += 1))
      },
      Down: (call: ServerWritableStream<Buffer, Buffer>) => {
        this.#saw(call)
        const count = Number(call.request.toString())
        for (let at = 0; at < count; at++) call.write(Buffer.from(`${at}`))
        call.end(echoed(call.metadata, 'trailing'))
      },
      FailLater: (call: ServerWritableStream<Buffer, Buffer>) => {
        this.#saw(call)
        call.write(Buffer.from('one'))
        setImmediate(() => {
          call.emit('error', { code: status.DATA_LOSS, details: 'lost' })
        })
      },
      Up: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.#saw(call)
        let length = 0
        call.on('data', (piece: Buffer) => (length += piece.length))
        call.on('end', () => {
          done(null, Buffer.from(`${length}`))
        })
      },
      Late: (call: ServerWritableStream<Buffer, Buffer>) => {
        this.#saw(call)
        setTimeout(() => {
          call.write(Buffer.from('late'))
          call.end()
        }, Number(call.request.toString()))
      },
      LateSum: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        this.#saw(call)
        let sum = 0
        call.on('data', (piece: Buffer) => (sum += Number(piece.toString())))
        call.on('end', () => {
          setTimeout(() => {
            done(null, Buffer.from(`${sum}`))
          }, sum)
        })
      },
      Both: both,
      Reflect: both,
    })
    this.port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => {
        if (error) reject(error)
        else resolve(bound)
      })
    })
    return this
  }

  #saw(call: { getDeadline(): Deadline; metadata: Metadata }): void {
    this.calls += 1
    this.metadata.push(call.metadata)
    this.deadlines.push(call.getDeadline())
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
    return Promise.resolve()
  }
}

/** `x-echo-*` of the request, as initial or trailing metadata. */
function echoed(from: Metadata, part: 'initial' | 'trailing'): Metadata {
  const metadata = new Metadata()
  for (const name of [`x-echo-${part}`, `x-echo-${part}-bin`])
    for (const value of from.get(name)) metadata.add(name, value)
  return metadata
}
