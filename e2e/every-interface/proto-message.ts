// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Texts and messages by their field numbers. */
export interface ProtoTree {
  readonly [field: number]: string | ProtoTree
}

const delimited = 2

/** A protobuf message with these fields. */
export function protoMessage(tree: ProtoTree): Buffer {
  return Buffer.concat(
    Object.entries(tree).flatMap(([field, value]) => {
      const bytes = typeof value === 'string' ? Buffer.from(value) : protoMessage(value)
      return [varint(Number(field) * 8 + delimited), varint(bytes.length), bytes]
    }),
  )
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value > 0x7f; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80)
  return Buffer.from([...bytes, value])
}
