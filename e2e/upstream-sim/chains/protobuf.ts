// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A value of a field: an integer, a text, or the bytes of a message. */
type FieldValue = number | string | Buffer

/** A message of these fields, by their numbers. */
export function encode(fields: Readonly<Record<number, FieldValue>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([number, value]) => {
      const key = Number(number) * 8
      if (typeof value === 'number') return [varint(key), varint(value)]
      const bytes = Buffer.from(value)
      return [varint(key + 2), varint(bytes.length), bytes]
    }),
  )
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  return Buffer.from([...bytes, left])
}
