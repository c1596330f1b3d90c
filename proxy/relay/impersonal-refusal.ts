// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Refusal } from '../upstream/hold-off.ts'
import { header, type HeaderList } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { repeats } from './quoted.ts'

/** Nobody refuses in more. */
const longestBody = 16 * 1024
/** What a refusal is told by, whatever the interface. */
const keptHeaders = ['content-type', 'grpc-status', 'grpc-message']

/**
 * A refusal of a call as other clients may be told it: it holds nothing of that call, neither its id
 * and metadata nor what its client wrote. Null where its words repeat that.
 */
export function impersonalRefusal(
  { incoming, failure }: Refusal,
  { reader, request }: Pick<Call, 'reader' | 'request'>,
): Refusal | null {
  const { status, headers, body } = reader.impersonal?.(incoming) ?? incoming
  if (!(body instanceof Uint8Array) || body.length > longestBody) return null
  const words = [Buffer.from(body).toString('latin1'), header(headers, 'grpc-message') ?? '']
  if (repeats(words.join('\n'), request)) return null
  return { incoming: { status, headers: kept(headers), body, trailers: () => [] }, failure }
}

function kept(headers: HeaderList): HeaderList {
  return keptHeaders.flatMap((name) => {
    const value = header(headers, name)
    return value === null ? [] : [name, value]
  })
}
