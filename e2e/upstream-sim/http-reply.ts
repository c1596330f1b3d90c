// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Clock } from '../../proxy/clock/clock.ts'
import type { WireFault } from './faults.ts'
import { replyText, RpcError } from './json-rpc.ts'

const resetAfterHeadMs = 10
const json = 'application/json'
const html =
  '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n'

/** Sends a reply to the client with these faults. */
export async function sendReply(
  response: ServerResponse,
  { status: wholeStatus, contentType, body, headers = {}, id }: NodeReply,
  faults: readonly WireFault[],
  clock: Clock,
): Promise<void> {
  for (const fault of faults)
    if (fault.kind === 'slow') await new Promise<void>((done) => clock.after(fault.delayMs, done))
  if (response.destroyed) return
  const fault = faults.find((one) => one.kind !== 'slow' && one.kind !== 'gzip')
  const { socket } = response
  switch (fault?.kind) {
    case undefined: {
      if (!faults.some(({ kind }) => kind === 'gzip'))
        return send(response, wholeStatus, contentType, body, headers)
      const gzip = { ...headers, 'content-encoding': 'gzip' }
      return send(response, wholeStatus, contentType, gzipSync(body), gzip)
    }
    case 'hang':
      return
    case 'reset':
      if (fault.when === 'after-head') {
        response.writeHead(200, { 'content-type': json, 'content-length': Buffer.byteLength(body) })
        response.write(half(body))
        await new Promise<void>((done) => clock.after(resetAfterHeadMs, done))
      }
      socket?.resetAndDestroy()
      return
    case 'half-body':
      response.writeHead(200, {
        'content-type': json,
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
      return send(response, 429, json, text, retryHeader(after))
    }
    case 'status': {
      const { status, body: form, retryAfter } = fault
      const extra = retryHeader(retryAfter)
      if (form === 'html') return send(response, status, 'text/html', html, extra)
      const text = form === 'empty' ? '' : replyText(id, new RpcError(-32603, 'internal error'))
      return send(response, status, json, text, extra)
    }
    case 'empty-body':
      return send(response, 200, json, '')
    case 'invalid-json':
      return send(response, 200, json, half(body))
  }
}

function retryHeader(after: string | number | undefined): Readonly<Record<string, string>> {
  return after === undefined ? {} : { 'retry-after': String(after) }
}

export function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  extra: Readonly<Record<string, string>> = {},
): void {
  const length = Buffer.byteLength(body)
  response.writeHead(status, { 'content-type': contentType, 'content-length': length, ...extra })
  response.end(body)
}

/** The first half, which is never valid JSON, because a reply is an object or an array. */
function half(body: string): string {
  return body.slice(0, Math.max(1, Math.floor(body.length / 2)))
}

/** An answer without its transport. */
export interface NodeReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** Requested methods, for the call record and for fault rules. */
  readonly methods: readonly string[]
  /** Id of a single JSON-RPC call. */
  readonly id?: unknown
}
