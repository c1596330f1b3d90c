// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../../chain/types.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Address, SocketLimits } from '../../config/types.ts'
import type { Relay } from '../../relay/step.ts'
import type { HttpHandler } from './http-exchange.ts'
import { createHttpServer } from './http-server.ts'
import type { SocketServing } from '../websocket/client-socket.ts'
import type { Listener } from '../listener.ts'
import type { ListenerObserver } from '../observer.ts'
import type { SubscriptionServing } from '../websocket/session-subscriptions.ts'
import { WebSocketServer } from '../websocket/websocket-server.ts'

/** What a listener of any interface needs. */
export interface ListenerOptions {
  readonly address: Address
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
  /** Of a request body, decoded. */
  readonly maxRequestBytes: number
  readonly socketLimits: SocketLimits
  /** Null where nothing can be subscribed to. */
  readonly subscriptions: SubscriptionServing | null
  /** Goes into `Router-Version`. */
  readonly version: string
  /** A new unique name for a request. */
  readonly newGuid: () => string
  /** Whether this listener can serve, for `GET /health`. */
  readonly health: () => boolean
}

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
