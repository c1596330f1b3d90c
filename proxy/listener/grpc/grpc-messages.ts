// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  MalformedAnswer,
  type ReplyContent,
  type ReplyReader,
  type StreamValidator,
} from '../../relay/reply.ts'
import { readStatus } from '../../upstream/dialect.ts'
import { header, type Incoming } from '../../upstream/wire.ts'
import { refusalByStatus } from '../rest/rest-reply-reader.ts'

/** The flag byte and the length before each message. */
const prefixBytes = 5

/** Follows the messages of one direction of a gRPC stream, without copying their bytes. */
export class GrpcFrames {
  /** Bytes of the current message that have not come. */
  #missing = 0
  readonly #prefix = Buffer.alloc(prefixBytes)
  #prefixLength = 0
  /** Messages that came whole. */
  count = 0
  /** The longest message that has been announced. */
  longestBytes = 0

  /** The bytes end with the end of a message. */
  get isWhole(): boolean {
    return this.#missing === 0 && this.#prefixLength === 0
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#missing > 0) {
        const taken = Math.min(this.#missing, chunk.length - at)
        this.#missing -= taken
        at += taken
        if (this.#missing === 0) this.count += 1
        continue
      }
      this.#prefix[this.#prefixLength++] = chunk[at++] as number
      if (this.#prefixLength < prefixBytes) continue
      this.#prefixLength = 0
      this.#missing = this.#prefix.readUInt32BE(1)
      this.longestBytes = Math.max(this.longestBytes, this.#missing)
      if (this.#missing === 0) this.count += 1
    }
  }
}

const noStatus = 'no grpc-status at the end'
const cutMessage = 'a message that ends early'

/** Reads the answers to gRPC calls: whole messages, and the status at their end. */
export const grpcReplyReader: ReplyReader = {
  read(incoming: Incoming): ReplyContent {
    const { status, headers, body } = incoming
    const type = header(headers, 'content-type') ?? ''
    if (status !== 200 || !type.startsWith('application/grpc')) {
      const why = `HTTP ${status} that is not gRPC`
      return refusalByStatus(status) ?? { kind: 'malformed', why }
    }
    if (!(body instanceof Uint8Array)) return { kind: 'result', rest: new MessageJudge(incoming) }
    const end = readStatus(incoming)
    if (end === null) return { kind: 'malformed', why: noStatus }
    if (end.code !== 0) return { kind: 'node-error', error: { status, ...end } }
    const frames = new GrpcFrames()
    frames.push(body)
    return frames.isWhole ? { kind: 'result' } : { kind: 'malformed', why: cutMessage }
  },
  /** Not used: the router itself answers no gRPC call. */
  write: () => new Uint8Array(),
}

/** Passes messages on as they come; at their end there must be a status. */
class MessageJudge implements StreamValidator {
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
    const end = readStatus(this.#incoming)
    if (end === null) throw new MalformedAnswer(noStatus)
    // After a failure in the middle of a message, the status reports it.
    if (end.code === 0 && !this.#frames.isWhole) throw new MalformedAnswer(cutMessage)
  }
}
