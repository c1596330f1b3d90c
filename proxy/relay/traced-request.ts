// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HeaderList, Outgoing } from '../upstream/wire.ts'
import type { AttemptRecord, Call, TraceContext } from './call.ts'
import type { NodeUrl } from '../upstream/node-url.ts'

/** Creates the W3C Trace Context headers of an attempt before it is sent. */
export type TraceHeaders = (call: Call, attempt: AttemptRecord) => HeaderList

/**
 * The request of one attempt. A URL that accepts trace context gets that of the attempt, or the
 * client's if tracing is off. Only first attempts join a batch, since one item may make it fail.
 */
export function requestTo(
  url: Pick<NodeUrl, 'takesTrace'>,
  call: Call,
  attempt: AttemptRecord,
  { traceHeaders }: { readonly traceHeaders?: TraceHeaders | null },
): Outgoing {
  const { directives } = call
  const request = attempt.kind === 'first' ? call.request : alone(call.request)
  if (!url.takesTrace) return request
  const headers = traceHeaders?.(call, attempt) ?? headersOf(directives.trace)
  return headers.length === 0 ? request : { ...request, headers: [...request.headers, ...headers] }
}

function alone(request: Outgoing): Outgoing {
  return request.batch ? { ...request, batch: undefined } : request
}

/** Encodes a trace context as headers. */
export function headersOf(trace: TraceContext | null): HeaderList {
  if (trace === null) return []
  const { parent, state } = trace
  return ['traceparent', parent, ...(state === null ? [] : ['tracestate', state])]
}
