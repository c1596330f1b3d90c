// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What stands before the bytes of a text frame that a server sends (RFC 6455, 5.2). */
export function textFrameHead(length: number, isFirst: boolean, isLast: boolean): Buffer {
  const first = (isLast ? 0x80 : 0) | (isFirst ? 0x1 : 0)
  if (length < 126) return Buffer.of(first, length)
  if (length < 0x10000) return Buffer.of(first, 126, length >> 8, length & 0xff)
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 127
  head.writeUIntBE(length, 4, 6)
  return head
}
