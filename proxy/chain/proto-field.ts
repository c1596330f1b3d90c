// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * Reads one field of a protobuf message without its schema: a varint or a length-delimited field.
 * Finds the height and chain id in an answer, and the height in a request.
 */

const varint = 0
const fixed64 = 1
const delimited = 2
const fixed32 = 5

/**
 * The value at a path of field numbers: a number for a varint, text for a delimited field. An
 * explicit 0 counts as present.
 * @returns undefined if absent; null for invalid bytes, and where decoders may differ
 */
export function fieldAt(
  message: Uint8Array,
  path: readonly (string | number)[],
): number | string | undefined | null {
  let value: ReturnType<typeof fieldOf> = message
  for (const field of path) {
    if (!(value instanceof Uint8Array)) return value === null ? null : undefined
    value = fieldOf(value, Number(field))
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value
}

/** The messages of a repeated field; none for invalid bytes. */
export function messagesAt(message: Uint8Array, field: number): readonly Uint8Array[] {
  return (valuesOf(message, field) ?? []).filter((each) => typeof each !== 'number')
}

function fieldOf(message: Uint8Array, field: number): number | Uint8Array | undefined | null {
  const values = valuesOf(message, field)
  // Decoders merge repeated messages and use the last repeated number; no client writes either.
  return values === null || values.length > 1 ? null : values[0]
}

/** Every value of a field; null for invalid bytes. */
function valuesOf(message: Uint8Array, field: number): readonly (number | Uint8Array)[] | null {
  const values: (number | Uint8Array)[] = []
  let at = 0
  while (at < message.length) {
    const tag = readVarint(message, at)
    if (tag === null) return null
    at = tag.end
    const isField = Math.floor(tag.value / 8) === field
    const wire = tag.value % 8
    if (wire === fixed64) at += 8
    else if (wire === fixed32) at += 4
    else if (wire === varint || wire === delimited) {
      const number = readVarint(message, at)
      if (number === null) return null
      at = wire === varint ? number.end : number.end + number.value
      if (at > message.length) return null
      if (isField) values.push(wire === varint ? number.value : message.subarray(number.end, at))
    } else return null
  }
  return at === message.length ? values : null
}

/** Numbers above 2^53 lose digits, but no height is that large. */
function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } | null {
  let value = 0
  for (let at = start; at < bytes.length && at < start + 10; at++) {
    const byte = bytes[at] as number
    value += (byte & 0x7f) * 2 ** (7 * (at - start))
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return null
}
