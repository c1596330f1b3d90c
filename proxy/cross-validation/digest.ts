// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { ApiInterface } from '../config/types.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { Reply } from '../relay/reply.ts'

const maxExcerptLength = 256

/**
 * What of an answer is compared: the result as canonical JSON without the ignored fields; of an error its class; of
 * what is no JSON the bytes. With an excerpt of it for the log.
 *
 * @param body all of it
 */
export function digestOf(
  { refusal }: Pick<Reply, 'refusal'>,
  body: Uint8Array,
  apiInterface: ApiInterface,
  ignored: readonly string[],
): { readonly answer: string; readonly excerpt: string } {
  // Nodes of Tendermint RPC leave the envelope out of some answers.
  const member = apiInterface === 'rest' ? null : 'result'
  const result = apiInterface === 'grpc' ? null : canonicalJson(body, member, ignored)
  const text = refusal === null ? result : `error ${refusal.name}`
  const excerpt = text ?? Buffer.from(body.subarray(0, maxExcerptLength)).toString('hex')
  const answer = hash('sha256', text ?? body, 'hex').slice(0, 32)
  return { answer, excerpt: excerpt.slice(0, maxExcerptLength) }
}
