// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Listener, ListenerOptions } from '../listener.ts'
import { WebSocketServer, type SocketServing } from '../websocket/websocket-server.ts'
import type { HttpHandler } from './http-exchange.ts'
import { createHttpServer } from './http-server.ts'

/** A listener on HTTP/1.1, which may have WebSockets. */
export function createHttpListener(
  options: ListenerOptions,
  handler: HttpHandler,
  sockets: SocketServing | null = null,
): Listener {
  const { observer } = options
  return createHttpServer({
    ...options,
    handler,
    connectionsChanged: (open) => {
      observer.connectionsChanged(open)
    },
    sockets:
      sockets &&
      new WebSocketServer({
        ...options,
        ...sockets,
        changed: (open) => {
          observer.socketsChanged(open)
        },
      }),
  })
}
