// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf, isNamed } from '../../json/text.ts'
import { isBase64 } from './shape.ts'

/** Attributes of the events of a block or a transaction, as `transfer.amount`, with all values. */
export type Attributes = Readonly<Record<string, readonly string[]>>

/** An event as a block's results tell it. */
export interface AbciEvent {
  readonly type: string
  readonly attributes?: readonly { readonly key: string; readonly value?: string | null }[] | null
}

/**
 * What of an event all clients share: its members but the query, which each has in a spelling of its
 * own, without the braces.
 */
export function behindQuery(event: Uint8Array): Uint8Array {
  if (event[0] !== 0x7b) return event
  const parts: Uint8Array[] = []
  const cursor = new ObjectCursor(event, 0)
  while (cursor.next()) {
    if (isNamed(event, cursor.nameStart, cursor.nameEnd, '"query"')) continue
    if (parts.length > 0) parts.push(Buffer.from(','))
    parts.push(bufferOf(event).subarray(cursor.nameStart, cursor.valueEnd))
  }
  return Buffer.concat(parts)
}

/** An event of the router's own making, as a node would tell it, in the part that is shared. */
export function writeEvent(type: string, value: object, attributes: Attributes): Uint8Array {
  const sorted = Object.fromEntries(
    Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  const data = JSON.stringify({ type: `tendermint/event/${type}`, value })
  return Buffer.from(`"data":${data},"events":${JSON.stringify(sorted)}`)
}

/** How a node writes attributes. Tendermint up to 0.36 writes them in base64, and does not say so. */
export type AttributeCode = 'plain' | 'unknown'

/** @param own of the event itself: `tm.event` and the like, which come behind those of the events */
export function attributesOf(
  events: readonly AbciEvent[],
  own: Attributes,
  code: AttributeCode,
): Attributes {
  const isEncoded = code === 'unknown' && areEncoded(events)
  const found: Record<string, string[]> = {}
  for (const { type, attributes } of events)
    for (const { key, value } of attributes ?? []) {
      if (type === '' || key === '') continue
      const [name, text] = isEncoded ? [decoded(key), decoded(value ?? '')] : [key, value ?? '']
      ;(found[`${type}.${name}`] ??= []).push(text)
    }
  for (const [name, values] of Object.entries(own)) (found[name] ??= []).push(...values)
  return found
}

/** Taken for base64 when every key of a block can be it. */
function areEncoded(events: readonly AbciEvent[]): boolean {
  const keys = events.flatMap(({ attributes }) => (attributes ?? []).map(({ key }) => key))
  return keys.length > 0 && keys.every((key) => isBase64(key) && !/[^\x20-\x7e]/.test(decoded(key)))
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString()
}
