// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, NodeError } from '../chain/failure-table.ts'
import type { Incoming } from '../upstream/wire.ts'

/**
 * An upstream's answer, chosen for the client. Its bytes are the upstream's own; a stream must be
 * read or released.
 */
export interface Reply {
  readonly incoming: Incoming
  /** The upstream that gave it. */
  readonly upstream: string
  /** The answer is an error in the node's own words, such as a revert: what follows from it. */
  readonly refusal: FailureClass | null
  /** The latest block that this upstream is known to have; null when unknown. */
  readonly latestBlock: number | null
}

/**
 * What an answer turns out to be, before any table says what follows. Of a stream it is what its
 * head shows, and `rest` judges what only the whole can show.
 */
export type Finding =
  /**
   * `inForm`: it is in the form in which the interface gives results; else it may be any page.
   * `parsed`: the result, where it was asked for and all of it is here.
   */
  | {
      readonly kind: 'result'
      readonly inForm?: true
      readonly parsed?: unknown
      readonly rest?: StreamJudge
    }
  | { readonly kind: 'node-error'; readonly error: NodeError; readonly rest?: StreamJudge }
  /**
   * Not an answer to the request in the interface's form. `why` is short and holds no payload.
   * `isClientsDoing`: what the client wrote may have brought it about, so it blames nobody.
   */
  | { readonly kind: 'malformed'; readonly why: string; readonly isClientsDoing?: boolean }

/** Reads answers of one interface; made by the listener along with the call. */
export interface ReplyReader {
  /** Reads as little as it can, and the result itself where that is wanted. Never throws. */
  read(incoming: Incoming, wantsResult?: boolean): Finding
  /** An answer of the router's own with this result, as an upstream would have given it. */
  write(result: unknown): Uint8Array
}

/** Judges a long answer while it passes, from its beginning. */
export interface StreamJudge {
  /** How many bytes the client gets, when that is known before. */
  readonly length: number | null
  /** Every piece is of use as it comes, so none is held back until the end is known. */
  readonly isLive?: boolean
  /**
   * Takes the next bytes, first those of the head.
   * @returns the same for the client, in the terms of its request
   * @throws MalformedAnswer
   */
  push(chunk: Uint8Array): readonly Uint8Array[]
  /** There are no more bytes. @throws MalformedAnswer */
  end(): void
}

/** A long answer turned out to be none. The message is short and holds no payload. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
}

/** Of two failed attempts the one whose reply is worth more to the client; of equals the later. */
export function morePreferred<T extends { readonly fallback: Reply | null }>(
  best: T | null,
  failed: T,
): T {
  return best === null || rankOf(failed.fallback) >= rankOf(best.fallback) ? failed : best
}

/**
 * How much an upstream's reply tells the client: nothing, a page, a limit of the provider, trouble of
 * the upstream's own, an error that another node might not have, the node's own answer, what is wrong
 * with a transaction, that its nonce is used, that the node has it already, an answer after all.
 */
export function rankOf(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 9 : 1
  if (refusal.transaction !== null) return { refused: 6, used: 7, known: 8 }[refusal.transaction]
  if (refusal.holdOff) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}

/** A page, or an error of the upstream's own trouble, passed on for want of anything better. */
export function isTrouble(reply: Reply): boolean {
  const { refusal, incoming } = reply
  return refusal === null ? incoming.status >= 300 : refusal.weight > 0 && rankOf(reply) === 3
}
