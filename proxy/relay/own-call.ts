// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../bytes/limits.ts'
import type { Chain } from '../chain/types.ts'
import { parseJson } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import { type Call, Journal } from './call.ts'
import { RelayError } from './errors.ts'
import type { Relay } from './relay.ts'
import { isStreamFailure } from './streamed-answer.ts'

/** The client's call with another JSON-RPC method; null if its request cannot carry one. */
export function ownCall(
  call: Call,
  chain: Chain,
  method: string,
  params: readonly unknown[],
): Call | null {
  const iface = chain.interfaces.get('jsonrpc')
  const { batch: _, ...request } = call.request
  if (!iface || !(request.body instanceof Uint8Array)) return null
  const { internalPath = '' } = call.method
  const question = { ...(parseJson(request.body) as object), method, params }
  return {
    ...{ ...call, payload: undefined, journal: new Journal(call.journal.startedMs) },
    method: iface.classify({ apiInterface: 'jsonrpc', method, params, internalPath }),
    request: { ...request, body: Buffer.from(JSON.stringify(question)) },
  }
}

/** The result of another method, at one of `only` if it is set; null for an error. */
export async function askElsewhere(
  call: Call,
  { relay, chain }: { readonly relay: Relay; readonly chain: Chain },
  question: { method: string; params: readonly unknown[]; only: readonly string[] | null },
): Promise<{ readonly upstream: string; readonly result: unknown } | null> {
  const own = ownCall(call, chain, question.method, question.params)
  if (!own) return null
  own.journal.clientDeadlineMs = call.journal.deadlineMs
  const directives = { ...call.directives, only: question.only }
  try {
    const { incoming, refusal, upstream } = await relay({ ...own, directives })
    if (refusal) release(incoming.body)
    const body = refusal ? null : await wholeBody(incoming.body, nodeLimits.wholeBytes)
    return body && { upstream, result: valueAt(parseJson(body), ['result']) }
  } catch (error) {
    if (error instanceof RelayError || isStreamFailure(error)) return null
    throw error
  }
}
