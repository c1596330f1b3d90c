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

/** Flag byte and length before each message. */
const prefixBytes = 5

/** Tracks message boundaries in one direction of a gRPC stream without copying bytes. */
export class GrpcFrames {
  /** Remaining bytes of the current message. */
  #missing = 0
  readonly #prefix = Buffer.alloc(prefixBytes)
  #prefixLength = 0
  /** Number of complete messages. */
  count = 0
  /** Longest message length announced so far. */
  longestBytes = 0

  /** Whether the bytes so far end at a message boundary. */
  get isWhole(): boolean {
    return this.#missing === 0 && this.#prefixLength === 0
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#missing > 0) {
        const consumed = Math.min(this.#missing, chunk.length - at)
        this.#missing -= consumed
        at += consumed
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

/** Reads answers to gRPC calls: complete messages, then a status. */
export const grpcReplyReader: ReplyReader = {
  read(incoming: Incoming): ReplyContent {
    const { status, headers, body } = incoming
    const type = header(headers, 'content-type') ?? ''
    if (status !== 200 || !type.startsWith('application/grpc'))
      return refusalByStatus(status) ?? { kind: 'malformed', why: 'not gRPC' }
    if (!(body instanceof Uint8Array)) return { kind: 'result', rest: new GrpcValidator(incoming) }
    const end = readStatus(incoming)
    if (end === null) return { kind: 'malformed', why: noStatus }
    if (end.code !== 0) return { kind: 'node-error', error: { status, ...end } }
    const frames = new GrpcFrames()
    frames.push(body)
    return frames.isWhole ? { kind: 'result' } : { kind: 'malformed', why: cutMessage }
  },
  /** Never called, because the router answers no gRPC call itself. */
  write: () => new Uint8Array(),
}

/** Forwards messages as they arrive and requires a status at the end. */
class GrpcValidator implements StreamValidator {
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
    // If a message is truncated, an error status already reports the failure.
    if (end.code === 0 && !this.#frames.isWhole) throw new MalformedAnswer(cutMessage)
  }
}
