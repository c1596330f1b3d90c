// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { release, type Body } from '../../upstream/wire.ts'

/** Items of one batch that are asked for at the same time. */
export const batchConcurrency = 32

/** Answers that wait for their turn may take this much memory before no more items are started. */
const maxHeldBytes = 8 * 1024 * 1024

/** What a stream is taken to hold while it waits. */
const streamBytes = 1024 * 1024

/** A batch's answer up to this size is sent as a whole; a longer one as it comes. */
const maxCollectedBytes = 1024 * 1024

/** The answer to one item: bytes, a stream that is too long to hold, or null for none. */
export type ItemAnswer = Body | null

/**
 * Asks for all items, a bounded number at once, and gives their answers in the order of the items.
 * `answer` must not reject.
 */
async function* inOrder<Item>(
  items: readonly Item[],
  answer: (item: Item, index: number) => Promise<ItemAnswer>,
): AsyncGenerator<ItemAnswer> {
  const answers: (Promise<ItemAnswer> | undefined)[] = []
  let running = 0
  let heldBytes = 0
  let isLeft = false
  const startMore = () => {
    // Items start in order, so the one whose turn it is has always been started.
    while (running < batchConcurrency && heldBytes < maxHeldBytes && !isLeft) {
      const index = answers.length
      if (index === items.length) return
      running += 1
      answers.push(
        answer(items[index] as Item, index).then((bytes) => {
          running -= 1
          heldBytes += sizeOf(bytes)
          startMore()
          return bytes
        }),
      )
    }
  }
  try {
    startMore()
    for (let index = 0; index < items.length; index++) {
      const bytes = (await answers[index]) ?? null
      yield bytes
      answers[index] = undefined
      heldBytes -= sizeOf(bytes)
      startMore()
    }
  } finally {
    isLeft = true
    for (const answer of answers) void answer?.then((body) => body && release(body))
  }
}

/** A stream that waits for its turn holds what its transport collected of it. */
function sizeOf(answer: ItemAnswer): number {
  if (answer === null) return 0
  return answer instanceof Uint8Array ? answer.length : streamBytes
}

const open = Buffer.from('[')
const comma = Buffer.from(',')
const close = Buffer.from(']')

/** The JSON array of the answers, in pieces. Gives nothing at all when no item has an answer. */
export async function* batchPieces<Item>(
  items: readonly Item[],
  answer: (item: Item, index: number) => Promise<ItemAnswer>,
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
