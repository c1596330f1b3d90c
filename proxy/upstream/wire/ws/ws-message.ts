// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, membersOf, spaceEnd, type Span, spells } from '../../../json/scanner.ts'

/*
 * What the wire of a WebSocket must know of JSON-RPC to share one connection among many requests:
 * where the id stands in a message, and which subscription a notification is for.
 */

/** What one message of a node is. Spans are into its bytes. */
export type SocketMessage =
  /** An answer; `id` is its span and value. What stands behind the id was not looked at. */
  | { readonly kind: 'answer'; readonly id: number; readonly idSpan: Span }
  | {
      readonly kind: 'notification'
      /** The bytes of the subscription's id; null where there is none. */
      readonly subscription: string | null
      /** What is new; null where the node says that the subscription has ended, or nothing at all. */
      readonly result: Span | null
    }
  /** `unaddressed`: an answer whose `id` is null, missing, or not one of ours. */
  | { readonly kind: 'unaddressed' | 'malformed' }

/** Reads as little of a message as it can. Never throws. */
export function readSocketMessage(bytes: Uint8Array): SocketMessage {
  const start = spaceEnd(bytes, 0)
  if (bytes[start] !== 0x7b) return { kind: 'malformed' }
  let hasMethod = false
  let params: Span | null = null
  const cursor = new Cursor(bytes, start)
  while (cursor.next()) {
    const span = { start: cursor.valueStart, end: cursor.valueEnd }
    if (cursor.isNamed('id')) {
      const id = idOf(bytes, span)
      if (id !== null) return { kind: 'answer', id, idSpan: span }
    } else if (cursor.isNamed('method')) hasMethod = bytes[span.start] === 0x22
    else if (cursor.isNamed('params')) params = span
  }
  if (cursor.end < 0 || spaceEnd(bytes, cursor.end) !== bytes.length) return { kind: 'malformed' }
  return hasMethod ? notificationOf(bytes, params) : { kind: 'unaddressed' }
}

/** `params` are those of a subscription, or something else that a node reports. */
function notificationOf(bytes: Uint8Array, params: Span | null): SocketMessage {
  if (params === null || bytes[params.start] !== 0x7b)
    return { kind: 'notification', subscription: null, result: null }
  const { at } = membersOf(bytes, params.start, ['subscription', 'result', 'error'])
  const [id, given = null, error] = at
  const subscription = id ? bufferOf(bytes).toString('utf8', id.start, id.end) : null
  const result = error && !isNull(bytes, error) ? null : given
  return { kind: 'notification', subscription, result }
}

/** Some nodes give a number back as text; older Tendermint marks the events of a subscription. */
function idOf(bytes: Uint8Array, { start, end }: Span): number | null {
  const text = bufferOf(bytes).toString('latin1', start, end)
  const digits = /^"?(\d{1,15})(?:#event)?"?$/.exec(text)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** Where the result of a whole answer stands; null when it has none, or is an error. */
export function resultSpan(bytes: Uint8Array): Span | null {
  const { at, end } = membersOf(bytes, spaceEnd(bytes, 0), ['error', 'result'])
  const [error, result] = at
  if (end < 0 || !result || isNull(bytes, result)) return null
  return error && !isNull(bytes, error) ? null : result
}

function isNull(bytes: Uint8Array, { start, end }: Span): boolean {
  return spells(bytes, start, end, 'null')
}
