// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../bytes/limits.ts'
import type { FailureClass, NodeError } from '../chain/failure-table.ts'
import type { Span } from '../json/scanner.ts'
import type { Incoming } from '../upstream/wire.ts'

/** Failure tables look at no more of a node's message. */
export const maxMessageLength = 4_096

/**
 * An upstream's answer, chosen for the client. Its bytes are the upstream's own; a stream must be
 * read or released.
 */
export interface Reply {
  readonly incoming: Incoming
  /** The upstream that gave it. */
  readonly upstream: string
  /** The failure class of an error that is the node's own answer, such as a revert; null for a result. */
  readonly refusal: FailureClass | null
  /** The latest block that this upstream is known to have; null when unknown. */
  readonly latestBlock: number | null
  /** The number of a new block that the answer shows. Absent or null: it shows none. */
  readonly shownBlock?: number | null
}

/**
 * What a reader finds in an answer, before the failure table classifies it. Of a stream it is what the
 * head shows, and `rest` judges the remainder.
 */
export type ReplyContent =
  /**
   * `inForm`: it is in the form in which the interface gives results; else it may be any page.
   * `isNull`: the result is null, and was not parsed.
   * `parsed`: the result, if it was wanted and all of it is here.
   */
  | {
      readonly kind: 'result'
      readonly inForm?: true
      readonly isNull?: true
      readonly parsed?: unknown
      readonly rest?: StreamValidator
    }
  | { readonly kind: 'node-error'; readonly error: NodeError; readonly rest?: StreamValidator }
  /**
   * Not an answer to the request in the interface's form. `why` is short and holds no payload.
   * `isClientsFault`: the client's request may be the cause, so the upstream is not blamed.
   */
  | { readonly kind: 'malformed'; readonly why: string; readonly isClientsFault?: boolean }

/** Reads answers of one interface; made by the listener along with the call. */
export interface ReplyReader {
  /**
   * Reads as little as possible, and parses the result only on demand. Never throws.
   * @param takesAnyId the answer may have the id of another request
   */
  read(incoming: Incoming, wantsResult?: boolean, takesAnyId?: boolean): ReplyContent
  /** An answer of the router with this result, in the form of an upstream's answer. */
  write(result: unknown): Uint8Array
  /** What an answer is; the last one that was read is not read again. Absent: nothing of it is remembered. */
  findingOf?(incoming: Incoming): ReplyContent
  /** JSON of the client's id; absent: requests have none. */
  readonly ownId?: Uint8Array
  /** The form in which nodes answer, where the client chooses one: an answer in another one is another answer. */
  readonly form?: string
  /**
   * Where the id of the request stands in an answer; empty where any request may get it as it is, and null
   * where none but its own may. Absent: answers have no id.
   */
  idIn?(body: Uint8Array): Span | null
  /** An answer to the same question under another id, as the answer to this request. */
  adopt?(incoming: WholeIncoming, id: Span): Incoming
}

/** An answer whose bytes are all here. */
export type WholeIncoming = Incoming & { readonly body: Uint8Array }

/** An answer that is here: where it is long, as a stream, so that a client may read it as slowly as any other. */
export function assembled(...parts: readonly [Uint8Array, ...Uint8Array[]]): Incoming['body'] {
  const { collectedBytes, unreadBytes } = nodeLimits
  let length = 0
  for (const part of parts) length += part.length
  if (length <= collectedBytes) return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  async function* pieces() {
    for (const part of parts)
      for (let at = 0; at < part.length; at += unreadBytes)
        yield part.subarray(at, at + unreadBytes)
  }
  return { head: [], length, [Symbol.asyncIterator]: pieces }
}

/** Judges a long answer while it is passed on, from its beginning. */
export interface StreamValidator {
  /** How many bytes the client gets; null when that is not known at the beginning. */
  readonly length: number | null
  /** Pieces are passed on as they come; none is held back until the end. */
  readonly isLive?: boolean
  /** Where the client's id stands in what it was given; null while that is not known. Absent: answers have no id. */
  readonly ownId?: Span | null
  /**
   * Takes the next bytes, first those of the head.
   * @returns the same for the client, under the id of its request
   * @throws MalformedAnswer
   */
  push(chunk: Uint8Array): readonly Uint8Array[]
  /** There are no more bytes. @throws MalformedAnswer */
  end(): void
}

/** A long answer is not well-formed. The message is short and holds no payload. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
}

/** Of two failed attempts the one whose reply is worth more to the client; of equals the later. */
export function morePreferred<T extends { readonly fallback: Reply | null }>(
  best: T | null,
  failed: T,
): T {
  return best === null || replyRank(failed.fallback) >= replyRank(best.fallback) ? failed : best
}

/**
 * How useful a reply is to the client, from 0 to 9.
 * Errors: none, a page, a provider's limit, an internal error, one that another node might not return.
 * Answers: a final error, a refused transaction, a used nonce, a known transaction, a result.
 */
export function replyRank(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 9 : 1
  if (refusal.transaction !== null) return { refused: 6, used: 7, known: 8 }[refusal.transaction]
  if (refusal.holdOff) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}

/** A page, or an internal error of the upstream, passed on because nothing better came. */
export function isTrouble(reply: Reply): boolean {
  const { refusal, incoming } = reply
  return refusal === null ? incoming.status >= 300 : refusal.weight > 0 && replyRank(reply) === 3
}
