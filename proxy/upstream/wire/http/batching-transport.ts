// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../../bytes/byte-budget.ts'
import { nodeLimits } from '../../bytes/limits.ts'
import { Cancellation, type CancelSignal } from '../../clock/cancellation.ts'
import { bufferOf, Cursor, memberOf, spaceEnd } from '../../json/scanner.ts'
import { type Incoming, type Outgoing, TransportError, wholeBody } from '../../upstream/wire.ts'
import type { Send } from '../../relay/call.ts'
import type { NodeUrl } from '../../upstream/upstream.ts'

/** JSON array delimiters, for a batch and its answer. */
export const open = Buffer.from('[')
export const comma = Buffer.from(',')
export const close = Buffer.from(']')

/** Statuses with which nodes refuse batches, or batches of that size. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501])
/** Parse error, invalid request, method not found: codes with which nodes refuse a batch. */
const formCodes: ReadonlySet<number> = new Set([-32700, -32600, -32601])
/** After this time a refused batch size is tried again. */
const refusedForMs = 10 * 60_000

/** One item of a client's batch, in transit to a URL. */
interface Item {
  readonly request: Outgoing
  /** JSON of the id sent to the node. */
  readonly id: string
  readonly signal: CancelSignal
  /** When the item's call began. */
  readonly atMs: number
  readonly resolve: (incoming: Incoming) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends items of one client's batch to the same URL in one request. Each item gets its part of the
 * answer, byte for byte. When a node refuses a batch, its items are sent singly, and for ten
 * minutes batches to that URL have half the size.
 */
export class JoinedRequests {
  /** How many other items may share a request with one. */
  readonly others: number
  readonly #groups = new Map<NodeUrl, Item[][]>()
  #isOpen = true

  readonly #budget: ByteBudget

  constructor(items: number, budget: ByteBudget) {
    this.others = items - 1
    this.#budget = budget
  }

  /** Sends the item with this id (JSON): joined with others at `flush`, or at once after it. */
  sender(id: Uint8Array, atMs: number): Send {
    return (url, request, signal) => {
      if (!this.#isOpen) return url.transport.send(request, signal)
      return new Promise((resolve, reject) => {
        const text = bufferOf(id).toString('latin1')
        this.#join(url, { request, id: text, signal, atMs, resolve, reject })
      })
    }
  }

  /** Sends the joined items. */
  flush(): void {
    this.#isOpen = false
    for (const [url, groups] of this.#groups)
      for (const items of groups) {
        if (items.length > 1) void sendGroup(url, items, this.#budget)
        else for (const item of items) sendSingly(url, item)
      }
    this.#groups.clear()
  }

  /** Joins the first group with room and no item of this id, because ids match the answers. */
  #join(url: NodeUrl, item: Item): void {
    const groups = this.#groups.get(url) ?? []
    this.#groups.set(url, groups)
    const fits = (group: readonly Item[]) =>
      group.length < maxItems(url, item) && group[0]?.request.path === item.request.path
    const group = groups.find((each) => fits(each) && each.every(({ id }) => id !== item.id))
    if (group) group.push(item)
    else groups.push([item])
  }
}

function maxItems({ maxBatch, smallerBatch }: NodeUrl, { atMs }: Item): number {
  return smallerBatch && atMs < smallerBatch.untilMs ? smallerBatch.items : maxBatch
}

function sendSingly(url: NodeUrl, { request, signal, resolve, reject }: Item): void {
  url.transport.send(request, signal).then(resolve, reject)
}

async function sendGroup(url: NodeUrl, items: readonly Item[], budget: ByteBudget): Promise<void> {
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
    const incoming = await url.transport.send({ ...first.request, body }, cancellation)
    const answer = await wholeBody(incoming.body, nodeLimits.wholeBytes, budget)
    share(url, waiting, incoming, answer)
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  } finally {
    for (const { signal } of waiting) signal.removeEventListener('abort', leave)
  }
}

/** @param body null when it is too long */
function share(
  url: NodeUrl,
  items: readonly Item[],
  incoming: Incoming,
  body: Uint8Array | null,
): void {
  const answers = body && answersIn(body, items)
  if (answers) {
    const missing = new TransportError('truncated', 'the answer to a batch lacks this item')
    for (const [index, { resolve, reject }] of items.entries()) {
      const answer = answers[index]
      if (answer) resolve({ ...incoming, body: answer })
      else reject(missing)
    }
  } else if (body === null || isRefusal(incoming.status, body)) {
    const atMs = items[0]?.atMs ?? 0
    url.smallerBatch = { items: Math.max(1, items.length >> 1), untilMs: atMs + refusedForMs }
    for (const item of items) sendSingly(url, item)
  } else {
    // All items get the same object, so that the failure counts once.
    const answer = { ...incoming, body }
    for (const { resolve } of items) resolve(answer)
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
