// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  MalformedAnswer,
  type Finding,
  type ReplyReader,
  type StreamJudge,
} from '../../relay/reply.ts'
import { readStatus } from '../../upstream/dialects/grpc-status.ts'
import { header, type Incoming } from '../../upstream/wire.ts'
import { GrpcFrames } from './grpc-frames.ts'
import { wordlessRefusal } from '../http/wordless-refusal.ts'

const noStatus = 'no grpc-status at the end'
const cutMessage = 'a message that ends early'

/** Reads the answers to one gRPC call: messages that are whole, and the status at their end. */
export class GrpcReplyReader implements ReplyReader {
  read(incoming: Incoming): Finding {
    const { status, headers, body } = incoming
    const type = header(headers, 'content-type') ?? ''
    if (status !== 200 || !type.startsWith('application/grpc')) {
      const why = `HTTP ${status} that is not gRPC`
      return wordlessRefusal(status) ?? { kind: 'malformed', why }
    }
    if (!(body instanceof Uint8Array)) return { kind: 'result', rest: new MessageJudge(incoming) }
    const frames = new GrpcFrames()
    frames.push(body)
    const told = readStatus(incoming)
    if (told === null) return { kind: 'malformed', why: noStatus }
    if (told.code !== 0) return { kind: 'node-error', error: { status, ...told } }
    if (!frames.isWhole) return { kind: 'malformed', why: cutMessage }
    return { kind: 'result' }
  }

  /** The status alone: metadata and details are of the call that it ended. */
  impersonal({ status, headers, trailers }: Incoming): Incoming {
    const from = header(trailers(), 'grpc-status') === null ? headers : trailers()
    const told = ['grpc-status', 'grpc-message'].flatMap((name) => {
      const value = header(from, name)
      return value === null ? [] : [name, value]
    })
    const type = ['content-type', 'application/grpc']
    return { status, headers: [...type, ...told], body: new Uint8Array(), trailers: () => [] }
  }

  /** The router answers no gRPC call in a node's name. */
  write(): Uint8Array {
    return new Uint8Array()
  }
}

/** Lets messages through as they come; at their end there has to be a status. */
class MessageJudge implements StreamJudge {
  readonly length = null
  readonly isLive = true
  readonly #frames = new GrpcFrames()
  readonly #incoming: Incoming

  constructor(incoming: Incoming) {
    this.#incoming = incoming
  }

  push(chunk: Uint8Array): readonly Uint8Array[] {
    this.#frames.push(chunk)
    return [chunk]
  }

  end(): void {
    const told = readStatus(this.#incoming)
    if (told === null) throw new MalformedAnswer(noStatus)
    // What went wrong in the middle of a message is told by the status.
    if (told.code === 0 && !this.#frames.isWhole) throw new MalformedAnswer(cutMessage)
  }
}
