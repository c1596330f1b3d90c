// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { ListenerOptions } from '../listener/http-listener.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import type { Listener } from '../listener/listener.ts'
import { createRestListener } from '../listener/rest.ts'
import { createTendermintListener } from '../listener/tendermint.ts'

type CreateListener = (options: ListenerOptions) => Listener

/** How each interface is served. An interface without a row is refused with the config. */
const listeners: Partial<Record<ApiInterface, CreateListener>> = {
  jsonrpc: createJsonRpcListener,
  tendermintrpc: createTendermintListener,
  rest: createRestListener,
}

export function createListener(apiInterface: ApiInterface, options: ListenerOptions): Listener {
  const create = listeners[apiInterface]
  if (!create) throw new Error(`no listener for ${apiInterface}`)
  return create(options)
}

/** So many nodes take on one connection: Tendermint, as it is shipped, five. */
export function subscriptionsPerConnection(apiInterface: ApiInterface): number {
  return apiInterface === 'tendermintrpc' ? 5 : 100
}
