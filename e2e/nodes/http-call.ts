// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { WireAnswer, WireCall } from './byte-equality.ts'

/** A target of HTTP calls: `http://HOST:PORT`, and headers for it. */
export interface HttpTarget {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpRequest {
  readonly verb: string
  /** Path without normalisation. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const agent = new Agent({ keepAlive: true })

/** An HTTP request as a call. It compares raw bytes without decompression. */
export function httpCall(
  label: string,
  { verb, path, headers, body }: HttpRequest,
): WireCall<HttpTarget> {
  return {
    label,
    async send(target): Promise<WireAnswer> {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = { ...headers, ...target.headers }
        request(target.url, { method: verb, path, headers: sent, agent }, resolve)
          .once('error', reject)
          .end(body)
      })
      const bytes = await buffer(answer)
      return {
        status: answer.statusCode ?? 0,
        headers: flat(answer.headers),
        bodies: [bytes],
        trailers: flat(answer.trailers),
      }
    },
  }
}

/** A call that posts a JSON text, as for JSON-RPC. */
export function postJson(label: string, body: string): WireCall<HttpTarget> {
  const headers = { 'content-type': 'application/json' }
  return httpCall(label, { verb: 'POST', path: '/', headers, body })
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  )
}
