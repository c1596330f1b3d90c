// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HeaderList } from '../../upstream/wire.ts'
import type { Calls } from '../calls.ts'
import type { SocketServing } from '../websocket/client-socket.ts'
import { readDirectives } from '../directives.ts'
import { forwardHeaders } from '../http/forwarded-headers.ts'
import type { ListenerOptions } from '../listener-options.ts'
import { JsonRpcSession } from './jsonrpc-session.ts'

const requestHeaders: HeaderList = ['content-type', 'application/json']

/** JSON-RPC on the WebSockets of a listener. Directives are read from the upgrade request. */
export function jsonRpcSockets(
  options: ListenerOptions,
  calls: Calls,
  paths: readonly string[],
): SocketServing {
  const { iface, socketLimits: limits } = options
  const serving = { ...options, calls }
  return {
    paths: [...paths, ...iface.internalPaths],
    limits,
    open: (socket, path, headers, guid) =>
      new JsonRpcSession(socket, serving, {
        guid,
        internalPath: iface.internalPaths.has(path) ? path : '',
        directives: readDirectives(headers),
        requestHeaders: forwardHeaders(headers, iface.requestHeaders, requestHeaders),
      }),
  }
}
