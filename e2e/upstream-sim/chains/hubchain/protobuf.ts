// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/* As much of protobuf as the queries of the hub chain need. */

/** A value of a field: an integer, a text, the bytes of a message, or several of these. */
export type FieldValue = number | string | Buffer | readonly FieldValue[]

/** A message of these fields, by their numbers. */
export function encode(fields: Readonly<Record<number, FieldValue>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).map(([number, value]) => field(Number(number), value)),
  )
}

function field(number: number, value: FieldValue): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)])
  if (typeof value === 'object' && !Buffer.isBuffer(value))
    return Buffer.concat(value.map((one) => field(number, one)))
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  return Buffer.from([...bytes, left])
}

/** The fields of a message, each with all its values. @throws RangeError when the bytes are none */
export function decode(bytes: Buffer): ReadonlyMap<number, readonly (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>()
  let at = 0
  const next = () => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 2 ** 56) throw new RangeError('no message')
      value += (byte % 128) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = next()
    const number = Math.floor(key / 8)
    const length = next()
    let value: number | Buffer = length
    if (key % 8 === 2) {
      if (length > bytes.length - at) throw new RangeError('no message')
      value = bytes.subarray(at, at + length)
      at += length
    } else if (key % 8 !== 0) throw new RangeError('a kind of field that no query has')
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

/** The last text of a field; empty where there is none. */
export function textOf(bytes: Buffer, number: number): string {
  return bytesOf(bytes, number).toString()
}

/** The last bytes of a field; empty where there are none. */
export function bytesOf(bytes: Buffer, number: number): Buffer {
  const value = decode(bytes).get(number)?.at(-1)
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}
