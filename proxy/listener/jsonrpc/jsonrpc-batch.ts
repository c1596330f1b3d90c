// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { release, type Body } from '../../upstream/wire.ts'
import { JoinedRequests } from './joined-requests.ts'

/** Items of one batch that are asked for at the same time. */
export const waveItems = 100

/** A batch's answer up to this size is sent as a whole; a longer one as it comes. */
const maxCollectedBytes = 1024 * 1024

/** The answer to one item: bytes, a stream that is too long to hold, or null for none. */
export type ItemAnswer = Body | null

/** Answers one item. What it asks of upstreams may be joined with what other items ask. Must not reject. */
type AnswerItem<Item> = (item: Item, index: number, joined: JoinedRequests) => Promise<ItemAnswer>

/** Asks for all items, a bounded number at once, and gives their answers in the order of the items. */
async function* inOrder<Item>(
  items: readonly Item[],
  answer: AnswerItem<Item>,
): AsyncGenerator<ItemAnswer> {
  for (let from = 0; from < items.length; from += waveItems) {
    const wave = items.slice(from, from + waveItems)
    const joined = new JoinedRequests(wave.length)
    const answers = wave.map((item, at) => answer(item, from + at, joined))
    joined.flush()
    let next = 0
    try {
      while (next < answers.length) yield await (answers[next++] as Promise<ItemAnswer>)
    } finally {
      // The client left: what nobody reads is released when it comes.
      for (const left of answers.slice(next)) void left.then((body) => body && release(body))
    }
  }
}

const open = Buffer.from('[')
const comma = Buffer.from(',')
const close = Buffer.from(']')

/** The JSON array of the answers, in pieces. Gives nothing at all when no item has an answer. */
export async function* batchPieces<Item>(
  items: readonly Item[],
  answer: AnswerItem<Item>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const bytes of inOrder(items, answer)) {
    if (bytes === null) continue
    yield isFirst ? open : comma
    isFirst = false
    if (bytes instanceof Uint8Array) yield bytes
    else yield* bytes
  }
  if (!isFirst) yield close
}

/** All of a stream when it is short; else a stream of the same. */
export async function collectShort(pieces: AsyncGenerator<Uint8Array>): Promise<Body> {
  const collected: Uint8Array[] = []
  let length = 0
  while (length <= maxCollectedBytes) {
    const next = await pieces.next()
    if (next.done) return Buffer.concat(collected, length)
    collected.push(next.value)
    length += next.value.length
  }
  return rest(Buffer.concat(collected, length), pieces)
}

async function* rest(
  start: Uint8Array,
  pieces: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield start
  yield* pieces
}
