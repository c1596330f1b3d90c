// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { WireAnswer, WireCall } from './byte-equality.ts'

/** A target of HTTP calls: `http://HOST:PORT`, and its own headers. */
export interface HttpTarget {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpRequest {
  readonly verb: string
  /** Sent as it is written, dots and all. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const agent = new Agent({ keepAlive: true })

/** An HTTP request as a call; bytes are taken as they come, nothing is decompressed. */
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

/** A JSON text that is posted, as JSON-RPC is. */
export function postJson(label: string, body: string): WireCall<HttpTarget> {
  const headers = { 'content-type': 'application/json' }
  return httpCall(label, { verb: 'POST', path: '/', headers, body })
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  )
}
