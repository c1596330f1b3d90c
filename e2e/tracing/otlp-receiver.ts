// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { MirrorNode } from '../rest/mirror-node.ts'

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

/** Receives OTLP/HTTP JSON on loopback. With `silent` it never answers. */
export async function startOtlpReceiver(silent = false) {
  const messages: OtlpMessage[] = []
  const receiver = new MirrorNode('otlp', ({ body }, response) => {
    messages.push(JSON.parse(body.toString()) as OtlpMessage)
    if (!silent) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return Object.assign(await receiver.start(), { messages })
}
