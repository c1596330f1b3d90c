// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Address, SocketLimits } from '../config/types.ts'
import type { Relay } from '../relay/relay.ts'
import type { ListenerObserver } from './observer.ts'
import type { SubscriptionServing } from './session/session-subscriptions.ts'

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
