// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface OtlpSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly KeyValue[]
}

/** An OTLP message in JSON. */
export interface OtlpMessage {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[]
  }[]
}

/** A span with its attributes and those of its resource, by name. */
export interface ReceivedSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

const byName = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export function spansOf(messages: readonly OtlpMessage[]): readonly ReceivedSpan[] {
  return messages.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          attributes: byName(span.attributes),
          resource: byName(resource.attributes),
        })),
      ),
    ),
  )
}

export function metricNamesOf(messages: readonly OtlpMessage[]): readonly string[] {
  const all = messages.flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
  )
  return [...new Set(all.map(({ name }) => name))].toSorted()
}

/** Receives OTLP/HTTP JSON on loopback. With `silent` it never answers. */
export async function startOtlpReceiver(silent = false) {
  const messages: OtlpMessage[] = []
  const server = createServer((request, response) => {
    void json(request).then((message) => {
      messages.push(message as OtlpMessage)
      if (!silent) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    messages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
