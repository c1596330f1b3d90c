// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Client,
  type ChannelOptions,
  credentials,
  type status,
  type CallOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  type Metadata,
} from '@grpc/grpc-js'
import { echoService } from './echo-server.ts'

const same = (value: Buffer) => value

/** All that a client can observe of a call. */
export interface Seen {
  readonly messages: readonly string[]
  readonly initial: Readonly<Record<string, readonly string[]>>
  readonly trailing: Readonly<Record<string, readonly string[]>>
  readonly code: status
  readonly details: string
}

type Name = keyof typeof echoService

export class EchoClient implements Disposable {
  readonly client: Client

  constructor(port: number, options: ChannelOptions = {}) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': 64 * 1024 * 1024,
      // Shares no connections with other clients of the test.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
      ...options,
    })
  }

  /** Opens any method as a bidirectional stream, which all methods are on the wire. */
  open(
    name: Name,
    metadata: Metadata,
    options: CallOptions = {},
  ): ClientDuplexStream<Buffer, Buffer> {
    return this.client.makeBidiStreamRequest(echoService[name].path, same, same, metadata, options)
  }

  async run(
    name: Name,
    sent: readonly (string | Buffer)[],
    metadata: Metadata,
    options: CallOptions = {},
  ): Promise<Seen> {
    const stream = this.open(name, metadata, options)
    for (const each of sent) stream.write(Buffer.from(each))
    stream.end()
    return seenOf(stream)
  }

  [Symbol.dispose](): void {
    this.client.close()
  }
}

export function seenOf(stream: ClientReadableStream<Buffer>): Promise<Seen> {
  const messages: string[] = []
  let initial = {}
  return new Promise((resolve) => {
    stream
      .on('metadata', (metadata) => (initial = plain(metadata)))
      .on('data', (piece: Buffer) =>
        messages.push(piece.length > 100 ? `${piece.length} bytes` : piece.toString('latin1')),
      )
      .on('error', () => {})
      .on('status', ({ code, details, metadata }) =>
        resolve({ messages, initial, trailing: plain(metadata), code, details }),
      )
  })
}

/** Metadata without entries of the router and entries that vary between calls. */
function plain(metadata: Metadata): Record<string, string[]> {
  const kept = Object.keys(metadata.getMap()).filter(
    (name) => !/^(rpc-|router-|provider-latest-block|date$)/.test(name),
  )
  return Object.fromEntries(
    kept
      .toSorted()
      .map((name) => [
        name,
        metadata
          .get(name)
          .map((value) => (typeof value === 'string' ? value : value.toString('hex'))),
      ]),
  )
}
