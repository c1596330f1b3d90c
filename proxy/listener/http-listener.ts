// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Address } from '../config/types.ts'
import type { Relay } from '../relay/step.ts'
import type { HttpHandler } from './http-exchange.ts'
import { createHttpServer } from './http-server.ts'
import type { Listener } from './listener.ts'
import type { ListenerObserver } from './observer.ts'

/** What a listener of any interface needs. */
export interface ListenerOptions {
  readonly address: Address
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
  /** Of a request body, decoded. */
  readonly maxRequestBytes: number
  /** Goes into `Router-Version`. */
  readonly version: string
  /** A new unique name for a request. */
  readonly newGuid: () => string
  /** Whether this listener can serve, for `GET /health`. */
  readonly health: () => boolean
}

/** A listener on HTTP/1.1. */
export function createHttpListener(options: ListenerOptions, handler: HttpHandler): Listener {
  const { observer } = options
  return createHttpServer({
    ...options,
    handler,
    connectionsChanged: (open) => {
      observer.connectionsChanged(open)
    },
  })
}
