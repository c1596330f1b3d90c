// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../../../bytes/byte-budget.ts'
import { nodeLimits } from '../../../bytes/limits.ts'
import { Cancellation, type CancelSignal } from '../../../clock/cancellation.ts'
import type { Clock } from '../../../clock/clock.ts'
import { arrayBytes, bufferOf, Cursor, memberOf, spaceEnd } from '../../../json/scanner.ts'
import {
  type BatchToken,
  type Incoming,
  type Outgoing,
  type Transport,
  TransportError,
  wholeBody,
} from '../../wire.ts'

const { open, comma, close } = arrayBytes

/** Statuses with which nodes refuse batches, or batches of that size. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501])
/** Parse error, invalid request, method not found: codes with which nodes refuse a batch. */
const formCodes: ReadonlySet<number> = new Set([-32700, -32600, -32601])
/** After this time a refused batch size is tried again. */
const refusedForMs = 10 * 60_000

/** One item of a client's batch that waits to be sent. */
interface Item {
  readonly request: Outgoing
  /** JSON of the id sent to the node. */
  readonly id: string
  readonly signal: CancelSignal
  readonly resolve: (incoming: Incoming) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends items of one client's batch that arrive in one turn of the event loop in one request. Each
 * item gets its part of the answer, byte for byte. When the node refuses a batch, its items are
 * sent singly, and for ten minutes batches have half the size.
 */
export class BatchingTransport implements Transport {
  readonly #inner: Transport
  readonly #maxItems: number
  readonly #clock: Clock
  readonly #budget: ByteBudget
  readonly #waiting = new Map<BatchToken, Item[][]>()
  /** Limit after a refusal. */
  #smaller = { items: Infinity, untilMs: -Infinity }

  /** @param maxItems the most that the node accepts in one request */
  constructor(
    inner: Transport,
    maxItems: number,
    { clock, budget }: { readonly clock: Clock; readonly budget: ByteBudget },
  ) {
    this.#inner = inner
    this.#maxItems = maxItems
    this.#clock = clock
    this.#budget = budget
  }

  send(request: Outgoing, signal: CancelSignal): Promise<Incoming> {
    const { batch } = request
    if (!batch) return this.#inner.send(request, signal)
    return new Promise((resolve, reject) => {
      const id = bufferOf(batch.id).toString('latin1')
      if (this.#waiting.size === 0) this.#budget.turns.together(this.#sendAll)
      const groups = this.#waiting.getOrInsertComputed(batch.token, () => [])
      const item = { request, id, signal, resolve, reject }
      const group = groups.find((each) => this.#fits(item, each))
      if (group) group.push(item)
      else groups.push([item])
    })
  }

  close(isGentle?: boolean): Promise<void> {
    return this.#inner.close(isGentle)
  }

  /** Ids are distinct in a group, because they match the answers. */
  #fits({ id, request }: Item, group: readonly Item[]): boolean {
    const { items, untilMs } = this.#smaller
    const maxItems = this.#clock.nowMs() < untilMs ? items : this.#maxItems
    if (group.length >= maxItems || group[0]?.request.path !== request.path) return false
    return group.every((each) => each.id !== id)
  }

  readonly #sendAll = (): void => {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    for (const items of all) {
      if (items.length > 1) void this.#sendGroup(items)
      else this.#sendSingly(items)
    }
  }

  #sendSingly(items: readonly Item[]): void {
    for (const { request, signal, resolve, reject } of items)
      this.#inner.send(request, signal).then(resolve, reject)
  }

  async #sendGroup(items: readonly Item[]): Promise<void> {
    const waiting = items.filter(({ signal }) => !signal.aborted)
    const [first] = waiting
    if (!first) return
    const cancellation = new Cancellation()
    let left = waiting.length
    const leave = () => {
      left -= 1
      if (left === 0) cancellation.abort()
    }
    for (const { signal } of waiting) {
      signal.underWay = cancellation
      signal.addEventListener('abort', leave, { once: true })
    }
    try {
      const body = joined(waiting.map(({ request }) => request.body as Uint8Array))
      const incoming = await this.#inner.send({ ...first.request, body }, cancellation)
      const answer = await wholeBody(incoming.body, nodeLimits.wholeBytes, this.#budget)
      this.#share(waiting, incoming, answer)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    } finally {
      for (const { signal } of waiting) signal.removeEventListener('abort', leave)
    }
  }

  /** @param body null when it is too long */
  #share(items: readonly Item[], incoming: Incoming, body: Uint8Array | null): void {
    const answers = body && answersIn(body, items)
    if (answers) {
      for (const [index, { resolve, reject }] of items.entries()) {
        const answer = answers[index]
        if (answer) resolve({ ...incoming, body: answer })
        else reject(new TransportError('truncated', 'the answer to a batch lacks this item'))
      }
    } else if (body === null || isRefusal(incoming.status, body)) {
      const untilMs = this.#clock.nowMs() + refusedForMs
      this.#smaller = { items: Math.max(1, items.length >> 1), untilMs }
      this.#sendSingly(items)
    } else {
      // All items get the same object, so that the failure counts once.
      const answer = { ...incoming, body }
      for (const { resolve } of items) resolve(answer)
    }
  }
}

/**
 * Whether the answer refuses batches, or batches of this size: HTTP 413, or one error about a
 * batch. Any other error, such as a rate limit, answers all items, unless its code concerns the
 * form of the request.
 */
function isRefusal(status: number, body: Uint8Array): boolean {
  if (status === 413) return true
  if (status === 429) return false
  if (mentionsBatch(firstElement(body))) return true
  if (status >= 300 && !refusals.has(status)) return false
  const code = textAt(body, 'error', 'code')
  // A page or a truncated list under a success status is a node failure, not a refusal.
  if (code === null) return status >= 300 || body[spaceEnd(body, 0)] === 0x7b
  return formCodes.has(Number(code))
}

/** The first element of a list; any other document unchanged. */
function firstElement(body: Uint8Array): Uint8Array {
  const start = spaceEnd(body, 0)
  const cursor = new Cursor(body, start)
  const isList = body[start] === 0x5b && cursor.next()
  return isList ? body.subarray(cursor.valueStart, cursor.valueEnd) : body
}

function mentionsBatch(answer: Uint8Array): boolean {
  return /batch/i.test(textAt(answer, 'error', 'message') ?? '')
}

/** JSON of a nested member; null when absent. */
function textAt(body: Uint8Array, outer: string, inner: string): string | null {
  const around = memberOf(body, outer)
  const object = around && body.subarray(around.start, around.end)
  const span = object && memberOf(object, inner)
  return span && bufferOf(object).toString('latin1', span.start, span.end)
}

/**
 * The answer to each item: the one with its id, else an unmatched one, else undefined. Null when
 * the body does not answer a batch, or is a list of one error about the batch (geth).
 */
function answersIn(
  body: Uint8Array,
  items: readonly Item[],
): readonly (Uint8Array | undefined)[] | null {
  const start = spaceEnd(body, 0)
  if (body[start] !== 0x5b) return null
  const byId = new Map<string, Uint8Array>()
  const others: Uint8Array[] = []
  const missingIds = new Set(items.map(({ id }) => id))
  const cursor = new Cursor(body, start)
  while (cursor.next()) {
    const answer = body.subarray(cursor.valueStart, cursor.valueEnd)
    const span = memberOf(answer, 'id')
    const id = span && bufferOf(answer).toString('latin1', span.start, span.end)
    if (id !== null && missingIds.delete(id)) byId.set(id, answer)
    else others.push(answer)
  }
  // An unclosed list, or one followed by other bytes, cannot be trusted.
  const isWhole = cursor.end >= 0 && spaceEnd(body, cursor.end) === body.length
  if (!isWhole || (byId.size === 0 && others.length < items.length)) return null
  const [only] = byId.values()
  if (only && byId.size + others.length === 1 && mentionsBatch(only)) return null
  return items.map(({ id }) => byId.get(id) ?? others.shift())
}

function joined(bodies: readonly Uint8Array[]): Uint8Array {
  const items = bodies.flatMap((body) => [comma, body])
  return Buffer.concat([open, ...items.slice(1), close])
}
