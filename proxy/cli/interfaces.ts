// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface, NodeUrlConfig } from '../config/types.ts'
import { createGrpcListener } from '../listener/grpc.ts'
import type { Listener, ListenerOptions } from '../listener/listener.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import { createRestListener } from '../listener/rest.ts'
import { createTendermintListener } from '../listener/tendermint.ts'
import { createGrpcTransport } from '../upstream/wire/grpc/grpc-transport.ts'
import {
  createHttpTransport,
  type HttpTransportOptions,
} from '../upstream/wire/http/http-transport.ts'
import type { Transport } from '../upstream/transport.ts'

type CreateListener = (options: ListenerOptions) => Listener

/** How each interface is served. */
const listeners: Readonly<Record<ApiInterface, CreateListener>> = {
  jsonrpc: createJsonRpcListener,
  tendermintrpc: createTendermintListener,
  rest: createRestListener,
  grpc: createGrpcListener,
}

export function createListener(apiInterface: ApiInterface, options: ListenerOptions): Listener {
  return listeners[apiInterface](options)
}

/** The wire for calls to one URL. @throws TlsFileError */
export function createTransport(
  apiInterface: ApiInterface,
  url: NodeUrlConfig,
  options: HttpTransportOptions,
): Transport {
  const create = apiInterface === 'grpc' ? createGrpcTransport : createHttpTransport
  return create(url, options)
}

/** So many nodes take on one connection: Tendermint, as it is shipped, five. */
export function subscriptionsPerConnection(apiInterface: ApiInterface): number {
  return apiInterface === 'tendermintrpc' ? 5 : 100
}
