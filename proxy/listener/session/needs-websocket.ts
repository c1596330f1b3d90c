// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Classification } from '../../chain/types.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { JsonRpcCall } from '../jsonrpc/jsonrpc-call.ts'
import { RequestRefused, type JsonRpcRequest } from '../jsonrpc/jsonrpc-request.ts'
import type { SubscriptionServing } from './session-subscriptions.ts'

/**
 * Over HTTP nobody can be told of anything later.
 * @param serving what there is to subscribe to over WebSocket
 * @throws RequestRefused when the call is to subscribe
 */
export function refuseSubscription(
  request: JsonRpcRequest,
  { asked }: JsonRpcCall,
  serving: SubscriptionServing | null,
): null {
  if (asked.kind !== 'subscribe') return null
  if (!serving?.form.opens(asked.method)) throw noSuchSubscription(request, asked)
  const message = `${asked.method} needs a WebSocket: connect to the same address with ws:// instead of http://`
  throw new RequestRefused(new RelayError(errorKinds.needsWebSocket, message), request.id)
}

/** The chain has it, and the router cannot share it out. */
export function noSuchSubscription(
  { id }: JsonRpcRequest,
  { method }: Pick<Classification, 'method'>,
): RequestRefused {
  const why = `${method}: the router has no such subscription`
  return new RequestRefused(new RelayError(errorKinds.methodNotFound, why), id)
}
