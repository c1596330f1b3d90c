// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../../proxy/clock/clock.ts'
import type { WireFault } from './faults.ts'
import { replyText } from './json-rpc.ts'
import { RpcError } from './rpc-error.ts'

const resetAfterHeadMs = 10
const html =
  '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n'

/** The head of a reply that no fault strikes. */
interface ReplyHead {
  readonly status: number
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
}

const jsonHead: ReplyHead = { status: 200, contentType: 'application/json' }

/** Sends `body` to the client, in the way that the faults say. */
export async function sendReply(
  response: ServerResponse,
  body: string | Buffer,
  id: unknown,
  faults: readonly WireFault[],
  clock: Clock,
  head: ReplyHead = jsonHead,
): Promise<void> {
  for (const fault of faults)
    if (fault.kind === 'slow') await new Promise<void>((done) => clock.after(fault.delayMs, done))
  if (response.destroyed) return
  const fault = faults.find((one) => one.kind !== 'slow' && one.kind !== 'gzip')
  const socket = response.socket
  switch (fault?.kind) {
    case undefined:
      if (faults.some((one) => one.kind === 'gzip'))
        return send(response, head.status, head.contentType, gzipSync(body), {
          ...head.headers,
          'content-encoding': 'gzip',
        })
      return send(response, head.status, head.contentType, body, head.headers)
    case 'hang':
      return
    case 'reset':
      if (fault.when === 'after-head') {
        response.writeHead(200, headers('application/json', Buffer.byteLength(body)))
        response.write(half(body))
        await new Promise<void>((done) => clock.after(resetAfterHeadMs, done))
      }
      socket?.resetAndDestroy()
      return
    case 'half-body':
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(fault.framing === 'content-length'
          ? { 'content-length': Buffer.byteLength(body) }
          : { 'transfer-encoding': 'chunked' }),
      })
      response.write(half(body), () => socket?.destroySoon())
      return
    case 'rate-limit': {
      const { retryAfter } = fault
      const after = retryAfter instanceof Date ? retryAfter.toUTCString() : retryAfter
      const text = replyText(id, new RpcError(-32005, 'rate limit exceeded'))
      return send(response, 429, 'application/json', text, {
        ...(after === undefined ? {} : { 'retry-after': String(after) }),
      })
    }
    case 'status': {
      const { status, body: form, retryAfter } = fault
      const extra = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
      if (form === 'html') return send(response, status, 'text/html', html, extra)
      const text = form === 'empty' ? '' : replyText(id, new RpcError(-32603, 'internal error'))
      return send(response, status, 'application/json', text, extra)
    }
    case 'empty-body':
      return send(response, 200, 'application/json', '')
    case 'invalid-json':
      return send(response, 200, 'application/json', half(body))
  }
}

/** Sends a whole reply. */
export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  extra: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers(contentType, Buffer.byteLength(body)), ...extra })
  response.end(body)
}

function headers(contentType: string, length: number) {
  return { 'content-type': contentType, 'content-length': length }
}

/** The first half: never whole JSON, because a reply is an object or an array. */
function half(body: string | Buffer): string | Buffer {
  const end = Math.max(1, Math.floor(body.length / 2))
  return typeof body === 'string' ? body.slice(0, end) : body.subarray(0, end)
}
