// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../bytes/limits.ts'
import type { FailureClass, NodeError } from '../chain/failure-table.ts'
import type { Span } from '../json/scanner.ts'
import type { Incoming } from '../upstream/wire.ts'

/** Failure tables match only this much of a node's message. */
export const maxMessageLength = 4_096

/**
 * The upstream's answer for the client, with unchanged bytes. A stream must be read or released.
 */
export interface Reply {
  readonly incoming: Incoming
  /** Name of the upstream. */
  readonly upstream: string
  /** Failure class of the node's own error, such as a revert; null for a result. */
  readonly refusal: FailureClass | null
  /** Latest known block of the upstream; null if unknown. */
  readonly latestBlock: number | null
  /** Number of a new block that the answer reveals; absent or null if there is none. */
  readonly shownBlock?: number | null
  /** How long the limit lasts that this reply reports; absent: it reports none. */
  readonly retryAfterMs?: number
}

/**
 * Content of an answer, before the failure table classifies it. For a stream it covers the head,
 * and `rest` validates the remainder.
 */
export type ReplyContent =
  /**
   * `inForm`: well-formed for the interface; otherwise it may be any page.
   * `isNull`: the result is null and was not parsed.
   * `parsed`: the result, if it was requested and is complete.
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
   * Not a well-formed answer to the request. `why` is short and contains no payload.
   * `isClientsFault`: the client's request may be the cause, so the upstream is not blamed.
   */
  | { readonly kind: 'malformed'; readonly why: string; readonly isClientsFault?: boolean }

/** Reads answers of one interface. The listener creates it with the call. */
export interface ReplyReader {
  /**
   * Reads as little as possible and parses the result only on demand. Never throws.
   * @param takesAnyId accepts the id of another request
   */
  read(incoming: Incoming, wantsResult?: boolean, takesAnyId?: boolean): ReplyContent
  /** Encodes a result as an upstream would. */
  write(result: unknown): Uint8Array
  /** Content of an answer, cached for the last one that was read; absent without a cache. */
  contentOf?(incoming: Incoming): ReplyContent
  /** JSON of the client's id; absent if requests have none. */
  readonly ownId?: Uint8Array
  /** Answer format, if the client chooses one; part of the cache key. */
  readonly form?: string
  /**
   * Position of the request's id in an answer; empty if the answer suits any request, null if it
   * suits only its own. Absent if answers have no id.
   */
  idIn?(body: Uint8Array): Span | null
  /** Converts the answer to an identical request with another id. */
  adopt?(incoming: WholeIncoming, id: Span): Incoming
}

/** An answer whose body is in memory. */
export type WholeIncoming = Incoming & { readonly body: Uint8Array }

/** A body from parts in memory. A long one is a stream, so that clients can read it slowly. */
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

/** Validates a long answer while the client reads it. */
export interface StreamValidator {
  /** Bytes that the client gets; null if unknown at the start. */
  readonly length: number | null
  /** Forwards each chunk at once, instead of withholding the last one until the end. */
  readonly isLive?: boolean
  /** Position of the client's id in the output; null if unknown yet. Absent without ids. */
  readonly ownId?: Span | null
  /**
   * Takes the next bytes, starting with the head.
   * @returns the bytes for the client, with the id of its request
   * @throws MalformedAnswer
   */
  push(chunk: Uint8Array): readonly Uint8Array[]
  /** Checks the end of the answer. @throws MalformedAnswer */
  end(): void
}

/** A long answer is not well-formed. The message is short and contains no payload. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
}

/** The failed attempt with the more useful reply; the later one if they are equal. */
export function morePreferred<T extends { readonly fallback: Reply | null }>(
  best: T | null,
  failed: T,
): T {
  return best === null || replyRank(failed.fallback) >= replyRank(best.fallback) ? failed : best
}

/**
 * Usefulness of a reply to the client, in ascending order from 0 to 9.
 * Errors: none, a page, a provider's limit, an internal error, an error specific to the node.
 * Answers: a final error, a rejected transaction, a used nonce, a known or pending transaction, a
 * result.
 */
export function replyRank(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 10 : 1
  if (refusal.transaction !== null)
    return { refused: 6, used: 7, known: 8, pending: 9 }[refusal.transaction]
  if (refusal.cooldown) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}

/** Whether the reply is a page or an internal error, returned for lack of a better one. */
export function isTrouble(reply: Reply): boolean {
  const { refusal, incoming } = reply
  return refusal === null ? incoming.status >= 300 : refusal.weight > 0 && replyRank(reply) === 3
}
