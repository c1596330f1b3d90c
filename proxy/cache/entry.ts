// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import type { AgeClass } from '../config/types.ts'
import { bufferOf, type Span } from '../json/scanner.ts'
import type { Call, Directives } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'
import type { HeaderList, Incoming } from '../upstream/wire.ts'

/** An answer as any call may get it that asks the same. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  readonly trailers: HeaderList
  readonly body: Uint8Array
  /** Where the id of its request stands; null where answers have none. */
  readonly id: Span | null
  /** The upstream that gave it. */
  readonly upstream: string
  readonly refusal: FailureClass | null
  readonly latestBlock: number | null
}

/** The text that stands for bytes, one character for each: in hundreds of thousands, short texts cost a third of buffers. */
const maxTextBytes = 4_096

/** An answer that is kept, and for how long it holds. Of few objects and small numbers: each costs the garbage collector. */
export interface Entry extends Omit<Answer, 'body' | 'id'> {
  readonly body: Uint8Array | string
  readonly idStart: number
  readonly idEnd: number
  readonly ageClass: AgeClass
  /** On the clock's monotonic scale. */
  readonly expiresMs: number
  /** It holds up to this head of the chain; -1 for one that no head can change. */
  readonly head: number
  /** What the branch of the chain was; of no account where no head can change it. */
  readonly branch: number
}

/** The answer as it is kept. */
export function entryOf(
  { body, id, ...answer }: Answer,
  ageClass: AgeClass,
  expiresMs: number,
  { head, branch }: Pick<Entry, 'head' | 'branch'>,
): Entry {
  const { status, headers, trailers, upstream, refusal, latestBlock } = answer
  return {
    ...{ status, headers, trailers, upstream, refusal, latestBlock },
    body: body.length <= maxTextBytes ? bufferOf(body).toString('latin1') : ownBytes(body),
    idStart: id === null ? -1 : id.start,
    idEnd: id === null ? -1 : id.end,
    ageClass,
    expiresMs: Math.ceil(expiresMs),
    head,
    branch,
  }
}

/** The kept answer as the reply to a call. */
export function keptReply(entry: Entry, call: Call): Reply {
  const { body: kept, idStart, idEnd } = entry
  const body = typeof kept === 'string' ? Buffer.from(kept, 'latin1') : kept
  const id = idStart < 0 ? null : { start: idStart, end: idEnd }
  const { status, headers, trailers, upstream, refusal, latestBlock } = entry
  return replyOf({ status, headers, trailers, body, id, upstream, refusal, latestBlock }, call)
}

const noTrailers: HeaderList = []

/** @returns null when it cannot be given to another call: its bytes are not all here, or have no id to replace */
export function answerOf(
  { incoming, upstream, refusal, latestBlock }: Reply,
  { reader }: Call,
): Answer | null {
  const { status, headers, body } = incoming
  if (!(body instanceof Uint8Array)) return null
  const id = reader.idIn ? reader.idIn(body) : undefined
  if (id === null) return null
  const given = incoming.trailers()
  const trailers = given.length === 0 ? noTrailers : given
  return { status, headers, trailers, body, id: id ?? null, upstream, refusal, latestBlock }
}

/** The answer as the reply to a call, under its id. */
export function replyOf(answer: Answer, { reader }: Call): Reply {
  const { status, headers, trailers, body, id, upstream, refusal, latestBlock } = answer
  const kept = { status, headers, body, trailers: () => trailers }
  const incoming: Incoming = id !== null && reader.adopt ? reader.adopt(kept, id) : kept
  return { incoming, upstream, refusal, latestBlock }
}

/** The client may have an answer of this upstream. */
export function mayComeFrom(
  { upstream }: Pick<Answer, 'upstream'>,
  { selectProvider, blockProviders }: Directives,
): boolean {
  return (
    (selectProvider === null || selectProvider === upstream) && !blockProviders.includes(upstream)
  )
}

/** The same bytes on their own: what they are a part of may be a hundred times longer. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
