// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Integers, strings and messages by field number. */
export interface Fields {
  readonly [number: number]: number | string | Fields
}

export function encode(fields: Fields): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([number, value]: [string, Fields[number]]) => {
      const key = Number(number) * 8
      if (typeof value === 'number') return [varint(key), varint(value)]
      const bytes = typeof value === 'string' ? Buffer.from(value) : encode(value)
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
