// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Dispatcher, request } from 'undici'
import type { WireAnswer, WireCall } from './byte-equality.ts'

/** Where HTTP calls go: `http://HOST:PORT`, and what is sent there alone. */
export interface HttpTarget {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpRequest {
  readonly verb: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** An HTTP request as a call; bytes are taken as they come, nothing is decompressed. */
export function httpCall(
  label: string,
  { verb, path, headers, body }: HttpRequest,
): WireCall<HttpTarget> {
  return {
    label,
    async send(target): Promise<WireAnswer> {
      const response = await request(new URL(path, target.url), {
        method: verb as Dispatcher.HttpMethod,
        headers: { ...headers, ...target.headers },
        body: body ?? null,
      })
      const bytes = Buffer.from(await response.body.arrayBuffer())
      return {
        status: response.statusCode,
        headers: flat(response.headers),
        bodies: [bytes],
        trailers: response.trailers,
      }
    },
  }
}

/** A JSON text that is posted, as JSON-RPC is. */
export function postJson(label: string, body: string): WireCall<HttpTarget> {
  const headers = { 'content-type': 'application/json' }
  return httpCall(label, { verb: 'POST', path: '/', headers, body })
}

function flat(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  )
}
