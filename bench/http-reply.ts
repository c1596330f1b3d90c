// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** The reply that the bytes hold, or null while it is not whole. Reads lengths and chunks. */
export function replyIn(bytes: Buffer): { readonly status: number; readonly body: string } | null {
  const text = bytes.toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const head = text.slice(0, headEnd).toLowerCase()
  const status = Number(head.slice(9, 12))
  const rest = text.slice(headEnd + 4)
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1]
  if (length !== undefined) return rest.length < Number(length) ? null : { status, body: rest }
  if (!head.includes('transfer-encoding: chunked')) return { status, body: rest }
  return rest.endsWith('\r\n0\r\n\r\n') || rest === '0\r\n\r\n'
    ? { status, body: unchunked(rest) }
    : null
}

function unchunked(text: string): string {
  let body = ''
  let at = 0
  while (at < text.length) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (!(size > 0)) break
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 4 + size
  }
  return body
}
