// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Reservation, type ByteBudget } from '../../bytes/byte-budget.ts'
import { GrowingBuffer } from '../../bytes/growing-buffer.ts'
import { budgetLimits, clientLimits, nodeLimits } from '../../bytes/limits.ts'
import { arrayBytes, type Span } from '../../json/scanner.ts'
import { CallAborted, RelayError, errorKinds } from '../../relay/errors.ts'
import type { Journal } from '../../relay/call.ts'
import type { Reply } from '../../relay/reply.ts'
import { release, type BatchToken, type Body } from '../../upstream/wire.ts'
import { errorOf, type CallOutcome, type Calls } from '../calls.ts'
import type { ListenerOptions } from '../listener.ts'
import { makeJsonRpcCall, type CallOrigin, type JsonRpcCall } from './jsonrpc-call.ts'
import { JsonRpcRequest, errorBytes, type RequestBody } from './jsonrpc-request.ts'

const { waveItems } = clientLimits
/** Answers of a batch are written in chunks of at least this size. */
const paceBytes = 64 * 1024
const { open, comma, close } = arrayBytes

/** Answer to one item: bytes, a stream that is too long to collect, or null for none. */
export type ItemAnswer = Body | null

/** Dependencies shared by all requests of a listener. */
export interface JsonRpcServing extends ListenerOptions {
  readonly calls: Calls
}

/** Where an item came from, and how its transport handles it. */
export interface ItemContext extends CallOrigin {
  /** Called when a call has ended, with the upstream's reply if there is one. */
  relayed(journal: Journal, reply: Reply | null): void
  /**
   * Answers a request about subscriptions; null for all other requests.
   * @throws RelayError
   */
  subscribe(request: JsonRpcRequest, call: JsonRpcCall): Promise<ItemAnswer> | null
}

/**
 * Answers one request, or a batch with one JSON array in item order. Null for no answer.
 * @throws the error of an item's stream
 */
export async function answerBody(
  body: Uint8Array,
  read: RequestBody,
  guid: string,
  context: ItemContext,
  serving: JsonRpcServing,
): Promise<ItemAnswer> {
  if (read.kind === 'single') return answerItem(body, read.span, guid, context, serving)
  const { budget } = serving
  const pieces = batchPieces(read.items, budget, (span, index, token) =>
    answerItem(body, span, `${guid}-${index}`, context, serving, token),
  )
  const collected = new GrowingBuffer(budget)
  try {
    while (collected.length <= nodeLimits.collectedBytes) {
      const next = await pieces.next()
      if (next.done) return collected.length === 0 ? null : collected.bytes
      collected.push(next.value)
    }
  } finally {
    collected.release()
  }
  return rest(collected.bytes, pieces)
}

/**
 * JSON array of the answers, in chunks; empty if no item has an answer. Limits the items in flight.
 * Answers waiting for their turn count against the budget.
 * @param answer receives the token that joins items on the wire; must not reject
 */
export async function* batchPieces<Item>(
  items: readonly Item[],
  budget: ByteBudget,
  answer: (item: Item, index: number, token: BatchToken) => Promise<ItemAnswer>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for (let from = 0; from < items.length; from += waveItems) {
    const wave = items.slice(from, from + waveItems)
    await new Promise<void>((resolve) =>
      budget.turns.run(wave.length * budgetLimits.itemBytes, resolve),
    )
    const token: BatchToken = { size: wave.length }
    const reservation = new Reservation(budget)
    const answers: ItemAnswer[] = []
    let next = 0
    let isOver = false
    let arrived = () => {}
    for (const [at, item] of wave.entries())
      void answer(item, from + at, token).then((bytes) => {
        // After a disconnect, unread answers are released as they arrive.
        if (isOver) return drop(bytes)
        reservation.hold(lengthOf(bytes))
        answers[at] = bytes
        if (at === next) arrived()
      })
    // Answers that arrive together leave together, because each `yield` costs several promises.
    const ready: Uint8Array[] = []
    let readyBytes = 0
    const taken = () => {
      const bytes = Buffer.concat(ready)
      reservation.hold(-readyBytes)
      readyBytes = ready.length = 0
      return bytes
    }
    try {
      for (; next < wave.length; next += 1) {
        if (ready.length > 0 && (!(next in answers) || readyBytes > paceBytes)) yield taken()
        if (!(next in answers)) await new Promise<void>((resolve) => (arrived = resolve))
        const bytes = answers[next] ?? null
        if (bytes === null) continue
        ready.push(isFirst ? open : comma)
        isFirst = false
        if (bytes instanceof Uint8Array && bytes.length < paceBytes) {
          ready.push(bytes)
          readyBytes += bytes.length
          continue
        }
        yield taken()
        if (bytes instanceof Uint8Array) yield bytes
        else yield* bytes
        reservation.hold(-lengthOf(bytes))
      }
      if (ready.length > 0) yield taken()
    } finally {
      isOver = true
      reservation.finish()
      for (const unread of answers.slice(next)) void drop(unread ?? null)
    }
  }
  if (!isFirst) yield close
}

/** A stream's source already counts its buffered bytes. */
function lengthOf(answer: ItemAnswer): number {
  return answer instanceof Uint8Array ? answer.length : 0
}

/** Starts and stops an unread stream: a stream that never starts would not end its calls. */
export async function drop(body: ItemAnswer): Promise<void> {
  if (body === null || body instanceof Uint8Array) return
  const pieces = body[Symbol.asyncIterator]()
  await pieces.next().catch(() => null)
  await pieces.return?.()
}

async function* rest(
  start: Uint8Array,
  pieces: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield start
    yield* pieces
  } finally {
    // Covers a reader that stops before `pieces` exists.
    await pieces.return(undefined)
  }
}

/** Always answers in JSON-RPC, because anything else would corrupt the batch. Never rejects. */
function answerItem(
  body: Uint8Array,
  span: Span,
  guid: string,
  context: ItemContext,
  serving: JsonRpcServing,
  token: BatchToken | null = null,
): Promise<ItemAnswer> {
  if (context.signal.aborted) return Promise.resolve(null)
  const refused = (cause: unknown) => {
    const error = errorOf(cause)
    serving.observer.requestRefused(error, guid, context.client ?? null)
    return errorBytes(error, guid)
  }
  try {
    const request = new JsonRpcRequest(body, span)
    const call = makeJsonRpcCall(request, context, guid, serving, token)
    const { calls } = serving
    const subscribed = context.subscribe(request, call)
    if (subscribed) return subscribed.catch(refused)
    return calls.run(call).then((outcome) => {
      try {
        return itemAnswer(request, call, outcome, context, calls)
      } catch (cause) {
        return refused(cause)
      }
    })
  } catch (cause) {
    return Promise.resolve(refused(cause))
  }
}

function itemAnswer(
  request: JsonRpcRequest,
  call: JsonRpcCall,
  result: CallOutcome,
  context: ItemContext,
  calls: Calls,
): ItemAnswer {
  const outcome = settled(call, result)
  const isAnswered = !(outcome instanceof RelayError || outcome instanceof CallAborted)
  if (!(outcome instanceof CallAborted)) context.relayed(call.journal, isAnswered ? outcome : null)
  if (isAnswered && !request.isNotification) {
    const body = call.reader.bodyOf(outcome.incoming)
    // A call with a streamed answer ends when its stream does.
    if (!(body instanceof Uint8Array)) return calls.endingWith(body, call, outcome)
    calls.ended(call, outcome)
    return body
  }
  if (isAnswered) release(outcome.incoming.body)
  calls.ended(call, outcome)
  const hasError = outcome instanceof RelayError && !request.isNotification
  return hasError ? errorBytes(outcome, call.guid, request.ownId) : null
}

/** Replaces a reply that is not JSON-RPC with a router error. */
function settled(call: JsonRpcCall, outcome: CallOutcome): CallOutcome {
  if (outcome instanceof RelayError || outcome instanceof CallAborted) return outcome
  // Only well-formed answers are streamed.
  if (!(outcome.incoming.body instanceof Uint8Array)) return outcome
  const content = call.reader.contentOf(outcome.incoming)
  if (content.kind !== 'malformed') return outcome
  const why = `HTTP status ${outcome.incoming.status} and ${content.why}`
  return new RelayError(errorKinds.upstreamFailed, `the upstream answered with ${why}`)
}
