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

const resourceExhausted = 8
/** Nodes use that status for a quota as well as for a request that is too large: what is meant of a large one. */
const tooLarge = 'received message larger than max'

/** Reads the answers to one gRPC call: messages that are whole, and the status at their end. */
export class GrpcReplyReader implements ReplyReader {
  readonly #isLargeRequest: () => boolean

  /** @param isLargeRequest whether a node may find the request too large, as far as it has come */
  constructor(isLargeRequest: () => boolean) {
    this.#isLargeRequest = isLargeRequest
  }

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
    if (told.code !== 0) {
      const isTooLarge = told.code === resourceExhausted && this.#isLargeRequest()
      const error = isTooLarge ? { ...told, message: tooLarge } : told
      return { kind: 'node-error', error: { status, ...error } }
    }
    if (!frames.isWhole) return { kind: 'malformed', why: cutMessage }
    return { kind: 'result' }
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
