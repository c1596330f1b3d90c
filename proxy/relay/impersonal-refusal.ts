// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Refusal } from '../upstream/cooldown.ts'
import { header, type HeaderList, type Outgoing } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import { repeatedWords } from './quoted.ts'

/** Nobody refuses in more. */
const longestBody = 16 * 1024
/** What a refusal is told by, whatever the interface. */
const keptHeaders = ['content-type', 'grpc-status', 'grpc-message']

/**
 * A refusal of a call as other clients may be told it: it holds neither the id nor the metadata of that
 * call, and tells which of its words its client may have written. Null where that cannot be seen.
 */
export function impersonalRefusal(
  { incoming, failure }: Omit<Refusal, 'repeated'>,
  { reader, request }: Pick<Call, 'reader' | 'request'>,
): Refusal | null {
  const { status, headers, body } = reader.impersonal?.(incoming) ?? incoming
  if (!(body instanceof Uint8Array) || body.length > longestBody) return null
  const words = [Buffer.from(body).toString('latin1'), header(headers, 'grpc-message') ?? '']
  const repeated = repeatedWords(words.join('\n'), request)
  if (repeated === null) return null
  const bare = { status, headers: kept(headers), body, trailers: () => [] }
  return { incoming: bare, failure, repeated }
}

/** Whoever writes the same words itself learns nothing from them. */
export function mayHear({ repeated }: Refusal, request: Outgoing): boolean {
  return (
    repeated.length === 0 || repeatedWords(repeated.join('\n'), request)?.length === repeated.length
  )
}

function kept(headers: HeaderList): HeaderList {
  return keptHeaders.flatMap((name) => {
    const value = header(headers, name)
    return value === null ? [] : [name, value]
  })
}
