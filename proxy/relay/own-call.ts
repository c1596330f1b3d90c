// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import { parseJson } from '../json/scanner.ts'
import { type Call, Journal } from './call.ts'

/** A call of another JSON-RPC method, otherwise like the client's; null if it cannot be made. */
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
