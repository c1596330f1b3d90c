// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../clock/clock.ts'
import type { Random } from '../../clock/random.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import { SocketLane, type LaneLimits } from './socket-lane.ts'
import type { SocketTransport } from '../socket-transport.ts'
import { UpstreamTarget } from '../upstream-target.ts'

const callLimits: LaneLimits = {
  maxConnections: 4,
  fullAt: 64,
  load: ({ inFlight, isSpoiled }) => (isSpoiled ? Infinity : inFlight),
  mayExceed: true,
  subscribes: false,
}

const subscriptionLimits: Omit<LaneLimits, 'fullAt'> = {
  maxConnections: 100,
  load: ({ subscriptions, isSpoiled }) => (isSpoiled ? Infinity : subscriptions),
  mayExceed: false,
  subscribes: true,
}

export interface WebSocketTransportOptions {
  /** `rpc-router/1.2.3`. */
  readonly userAgent?: string
  readonly clock: Clock
  readonly random: Random
  /** More of them are spread over several connections: nodes take no more on one. */
  readonly subscriptionsPerConnection: number
}

/**
 * JSON-RPC over WebSocket to one URL. Calls share a few connections; subscriptions have others, so
 * that a long answer does not hold a notification up. Connections are opened when they are needed,
 * not more often than a growing pause allows, and closed when nobody has needed them for a while.
 * They all go to the URL itself: the path of a request says where a node serves it by HTTP.
 * @throws TlsFileError
 */
export function createWebSocketTransport(
  config: NodeUrlConfig,
  options: WebSocketTransportOptions,
): SocketTransport {
  const target = new UpstreamTarget(config, { 'user-agent': options.userAgent })
  const calls = new SocketLane({ ...options, target, limits: callLimits })
  const subscriptions = new SocketLane({
    ...options,
    target,
    limits: { ...subscriptionLimits, fullAt: options.subscriptionsPerConnection },
  })
  return {
    send: (request, signal) => calls.run(signal, (connection) => connection.send(request, signal)),
    subscribe: (request, signal, undo) =>
      subscriptions.run(signal, (connection) => connection.subscribe(request, signal, undo)),
    close() {
      calls.close()
      subscriptions.close()
      return Promise.resolve()
    },
  }
}
