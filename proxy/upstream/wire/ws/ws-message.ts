// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, membersOf, spaceEnd, type Span, spells } from '../../../json/scanner.ts'

/*
 * The JSON-RPC knowledge that lets many requests share a WebSocket: the position of a message's id,
 * and the subscription of a notification.
 */

/** The kind of a node's message. Spans refer to its bytes. */
export type SocketMessage =
  /** An answer; `id` is its value. Bytes after the id were not scanned. */
  | { readonly kind: 'answer'; readonly id: number; readonly idSpan: Span }
  | {
      readonly kind: 'notification'
      /** The bytes of the subscription's id; null without one. */
      readonly subscription: string | null
      /** The event; null if the node reports the end of the subscription, or nothing. */
      readonly result: Span | null
    }
  /** `unaddressed`: an answer with an `id` that is null, missing, or unknown. */
  | { readonly kind: 'unaddressed' | 'malformed' }

/** Reads as little of a message as possible. Never throws. */
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

/** `params` may belong to a subscription or to another notification of the node. */
function notificationOf(bytes: Uint8Array, params: Span | null): SocketMessage {
  if (params === null || bytes[params.start] !== 0x7b)
    return { kind: 'notification', subscription: null, result: null }
  const { at } = membersOf(bytes, params.start, ['subscription', 'result', 'error'])
  const [id, value = null, error] = at
  const subscription = id ? bufferOf(bytes).toString('utf8', id.start, id.end) : null
  const result = error && !isNull(bytes, error) ? null : value
  return { kind: 'notification', subscription, result }
}

/** Some nodes return a number as text; older Tendermint marks the events of a subscription. */
function idOf(bytes: Uint8Array, { start, end }: Span): number | null {
  const text = bufferOf(bytes).toString('latin1', start, end)
  const digits = /^"?(\d{1,15})(?:#event)?"?$/.exec(text)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** Position of the result in a whole answer; null for an error or without a result. */
export function resultSpan(bytes: Uint8Array): Span | null {
  const { at, end } = membersOf(bytes, spaceEnd(bytes, 0), ['error', 'result'])
  const [error, result] = at
  if (end < 0 || !result || isNull(bytes, result)) return null
  return error && !isNull(bytes, error) ? null : result
}

function isNull(bytes: Uint8Array, { start, end }: Span): boolean {
  return spells(bytes, start, end, 'null')
}
