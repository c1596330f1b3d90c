// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ReplyCollector } from './http-reply.ts'

const body = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'

test.each([
  ['a content length', `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 200],
  [
    'one chunk',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n27\r\n${body}\r\n0\r\n\r\n`,
    200,
  ],
  [
    'two chunks',
    `HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n${body.slice(0, 7)}\r\n20\r\n${body.slice(7)}\r\n0\r\n\r\n`,
    502,
  ],
])('a reply with %s is read when it is whole, and not before', (_name, text, status) => {
  const bytes = Buffer.from(text)
  for (const pieceBytes of [1, 3, bytes.length]) {
    const replies = new ReplyCollector()
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const reply = replies.push(bytes.subarray(at, at + pieceBytes))
      if (at + pieceBytes < bytes.length) expect(reply).toBeNull()
      else expect([reply?.status, reply?.body.toString()]).toEqual([status, body])
    }
  }
})
