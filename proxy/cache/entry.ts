// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { AgeClass } from '../config/types.ts'
import { bufferOf, type Span } from '../json/scanner.ts'
import type { Call, Directives } from '../relay/call.ts'
import { assembled, type Reply, type StreamValidator } from '../relay/reply.ts'
import type { HeaderList } from '../upstream/wire.ts'

/** An answer that serves all identical calls. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  readonly trailers: HeaderList
  /** A string has one character per byte. */
  readonly body: Uint8Array | string
  /** Position of the request id; null if there is none, as in a page. */
  readonly id: Span | null
  /** Name of the upstream. */
  readonly upstream: string
  readonly refusal: FailureClass | null
  readonly latestBlock: number | null
}

/** A cached answer and its lifetime. */
export interface Entry {
  readonly answer: Answer
  readonly ageClass: AgeClass
  /** Whether the result is empty and no second upstream has confirmed it. */
  readonly isEmpty: boolean
  /** On the clock's monotonic scale. */
  readonly expiresMs: number
  /** Lifetime, counted from when the answer was first stored. */
  readonly ttlMs: number
  /** Valid up to this head of the chain; -1 if no head can change it. */
  readonly head: number
  /** The tracker's `branch`; for an answer about the latest block, its `revision`. */
  readonly branch: number
}

/**
 * @param headers headers that reach the client
 * @param validator validator of a streamed answer
 * @returns null if other calls cannot use the answer: it is incomplete, or its id is not located
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
  const trailers = incoming.trailers()
  return { status, headers, trailers, body, id: id ?? null, upstream, refusal, latestBlock }
}

/** The reply to a call, with the call's id. */
export function replyOf(answer: Answer, { reader }: Call): Reply {
  const { status, headers, trailers, id, upstream, refusal, latestBlock } = answer
  const body = bytesOf(answer)
  const stored = { status, headers, body, trailers: () => trailers }
  const own = id === null ? undefined : reader.adopt?.(stored, id)
  const incoming = own ?? { ...stored, body: assembled(body) }
  return { incoming, upstream, refusal, latestBlock }
}

/**
 * Whether the directives allow an answer from this upstream. `rpc-min-block` allows only immutable
 * answers from a node that had the block, because the client may next request the block in the
 * header.
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

/** Longer bodies are stored as bytes, which all clients share. */
export const maxShortBytes = 4_096

/**
 * Converts bytes to their stored form. Short strings take a third of the memory of buffers. Long
 * slices are copied, because the underlying buffer may be a hundred times longer.
 */
export function compact(bytes: Answer['body']): Answer['body'] {
  if (typeof bytes === 'string') return bytes
  if (bytes.length <= maxShortBytes) return bufferOf(bytes).toString('latin1')
  if (bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
