// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../../chain/types.ts'
import { bufferOf } from '../../json/text.ts'
import type { Span } from '../../json/cursor.ts'
import type { JsonRpcRequest } from './jsonrpc-request.ts'

/** A request as it goes to an upstream. */
export interface SentRequest {
  readonly body: Uint8Array
  /** The bytes of the id that the upstream is asked under. */
  readonly id: Uint8Array
}

const ourId = Buffer.from('1')

/**
 * The bytes for the upstream: the client's own, save for an id that a node may not give back, or
 * not answer to. Then it is asked under an id of ours. Where the chain's nodes want to be told the
 * version that a request without one is of, they are.
 *
 * Nodes answer nothing to a notification, and some take a null id for one, so that nothing would
 * be known and nothing could be retried; some refuse a fraction or lose digits of a long number.
 */
export function sentForm(
  request: JsonRpcRequest,
  impliedVersion: ChainInterface['impliedVersion'],
): SentRequest {
  const sent = withGivenId(request)
  if (impliedVersion === null || request.hasVersion) return sent
  const version = Buffer.from(`{"jsonrpc":"${impliedVersion}",`)
  return { ...sent, body: Buffer.concat([version, sent.body.subarray(1)]) }
}

function withGivenId({ body, span, id }: JsonRpcRequest): SentRequest {
  if (id === null) {
    const inside = body.subarray(span.start + 1, span.end)
    return { body: Buffer.concat([Buffer.from('{"id":1,'), inside]), id: ourId }
  }
  const own = body.subarray(id.start, id.end)
  if (isGivenBack(body, id)) return { body: body.subarray(span.start, span.end), id: own }
  const before = body.subarray(span.start, id.start)
  return { body: Buffer.concat([before, ourId, body.subarray(id.end, span.end)]), id: ourId }
}

/** Strings and integers of at most 15 digits, which fit every number type. */
function isGivenBack(body: Uint8Array, { start, end }: Span): boolean {
  if (body[start] === 0x22) return true
  return end - start <= 16 && /^-?\d{1,15}$/.test(bufferOf(body).toString('latin1', start, end))
}
