// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { AgeClass } from '../config/types.ts'
import { bufferOf, type Span } from '../json/scanner.ts'
import type { Call, Directives } from '../relay/call.ts'
import { assembled, type Reply, type StreamValidator } from '../relay/reply.ts'
import type { HeaderList } from '../upstream/wire.ts'

/** An answer as any call may get it that asks the same. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  readonly trailers: HeaderList
  /** A text has one character for each byte. */
  readonly body: Uint8Array | string
  /** Where the id of its request stands; null where it has none, such as a page. */
  readonly id: Span | null
  /** The upstream that gave it. */
  readonly upstream: string
  readonly refusal: FailureClass | null
  readonly latestBlock: number | null
}

/** A cached answer and its lifetime. */
export interface Entry {
  readonly answer: Answer
  readonly ageClass: AgeClass
  /** Empty, and confirmed by one upstream only. */
  readonly isEmpty: boolean
  /** On the clock's monotonic scale. */
  readonly expiresMs: number
  /** It holds up to this head of the chain; -1 for one that no head can change. */
  readonly head: number
  /** The tracker's `branch`, or its `revision` for an answer about the latest block. Irrelevant where no head can change it. */
  readonly branch: number
}

const noTrailers: HeaderList = []

/**
 * @param headers that reach any client
 * @param validator of an answer that streamed
 * @returns null when it cannot be given to another call: its bytes are not all here, or where its id stands is not known
 */
export function answerOf(
  { incoming, upstream, refusal, latestBlock }: Reply,
  { reader }: Call,
  headers: HeaderList,
  validator?: StreamValidator,
): Answer | null {
  const { status, body } = incoming
  if (!(body instanceof Uint8Array)) return null
  if (validator?.ownId === null) return null
  const id = validator ? validator.ownId : reader.idIn?.(body)
  const given = incoming.trailers()
  const trailers = given.length === 0 ? noTrailers : given
  return { status, headers, trailers, body, id: id ?? null, upstream, refusal, latestBlock }
}

/** The answer as the reply to a call, under its id. */
export function replyOf(answer: Answer, { reader }: Call): Reply {
  const { status, headers, trailers, id, upstream, refusal, latestBlock } = answer
  const body = bytesOf(answer)
  const kept = { status, headers, body, trailers: () => trailers }
  const own = id === null ? undefined : reader.adopt?.(kept, id)
  const incoming = own ?? { ...kept, body: assembled(body) }
  return { incoming, upstream, refusal, latestBlock }
}

/**
 * The client may have the answer of this upstream. With `rpc-min-block`, only one that no block changes, of a node that
 * had that block: the client may then ask for what the header of the answer says, and gets no other one.
 */
export function isFor(
  { upstream, latestBlock }: Pick<Answer, 'upstream' | 'latestBlock'>,
  head: number,
  { selectProvider, blockProviders, minBlock }: Directives,
): boolean {
  const isChosen = selectProvider === null || selectProvider === upstream
  const isReached = minBlock === null || (head < 0 && (latestBlock ?? 0) >= minBlock)
  return isChosen && isReached && !blockProviders.includes(upstream)
}

export function bytesOf({ body }: Pick<Answer, 'body'>): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body
}

/** Longer bodies are kept as they are, and are the same bytes for all who get them. */
export const maxShortBytes = 4_096

/**
 * The bytes as they are kept. In hundreds of thousands, short texts cost a third of buffers. Long ones are copied: what
 * they are a part of may be a hundred times longer.
 */
export function compact(bytes: Uint8Array): Uint8Array | string {
  if (bytes.length <= maxShortBytes) return bufferOf(bytes).toString('latin1')
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
