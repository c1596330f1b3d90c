// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../../../bytes/limits.ts'
import { unlessAborted, type CancelSignal } from '../../../clock/cancellation.ts'
import type { Clock } from '../../../clock/clock.ts'
import type { NodeUrlConfig } from '../../../config/types.ts'
import { aborted, NoRoom, TransportError, type SocketTransport } from '../../wire.ts'
import type { WireOptions } from '../exchange.ts'
import { UpstreamTarget } from '../upstream-target.ts'
import { WebSocketConnection } from './ws-connection.ts'

export interface WebSocketTransportOptions extends Omit<WireOptions, 'budget'> {
  /** Limit per connection, since nodes accept no more. Further ones use other connections. */
  readonly subscriptionsPerConnection: number
}

/**
 * JSON-RPC over WebSocket to one URL. Calls share a connection. Subscriptions have others, so a
 * long answer does not delay a notification. Connections open on demand, one at a time, and close
 * when idle. They all go to the URL itself, since the path of a request is for HTTP only.
 * @throws TlsFileError
 */
export function createWebSocketTransport(
  config: NodeUrlConfig,
  options: WebSocketTransportOptions,
): SocketTransport {
  const target = new UpstreamTarget(config, { 'user-agent': options.userAgent })
  const { clock } = options
  // One connection carries any number of calls; another opens only when it closes.
  const calls = new SocketLane(target, clock, Infinity)
  const subscriptions = new SocketLane(target, clock, options.subscriptionsPerConnection)
  return {
    send: (request, signal) => calls.run(signal, (connection) => connection.send(request, signal)),
    subscribe: (request, signal) =>
      subscriptions.run(signal, async (connection) =>
        Object.assign(await connection.subscribe(request, signal), {
          limited: () => subscriptions.limit(connection.subscriptions),
        }),
      ),
    async close(isGentle = false) {
      await Promise.all([calls.close(isGentle), subscriptions.close(isGentle)])
    },
  }
}

/** After this time, a connection may carry more subscriptions than the node once accepted. */
const limitedForMs = 10 * 60_000

/** Connections to one URL with the same purpose. */
class SocketLane {
  readonly #target: UpstreamTarget
  readonly #clock: Clock
  readonly #fullAt: number
  /** Limit after a refusal. */
  #smaller = { load: Infinity, untilMs: -Infinity }
  readonly #connections = new Set<WebSocketConnection>()
  #opening: Promise<WebSocketConnection> | null = null
  #isClosed = false
  readonly #ended = Promise.withResolvers<void>()

  /** @param fullAt load at which another connection opens */
  constructor(target: UpstreamTarget, clock: Clock, fullAt: number) {
    this.#target = target
    this.#clock = clock
    this.#fullAt = fullAt
  }

  /**
   * Uses a connection, existing or new, for one more request.
   * @param use begins at once, so that the next request sees the load
   * @throws TransportError
   */
  async run<T>(
    signal: CancelSignal,
    use: (connection: WebSocketConnection) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      if (signal.aborted) throw aborted(false)
      const best = this.#leastLoaded()
      const { load, untilMs } = this.#smaller
      const fullAt = this.#clock.nowMs() < untilMs ? load : this.#fullAt
      if (best && best.load < fullAt) return use(best)
      if (this.#connections.size >= nodeLimits.sockets && this.#opening === null) throw new NoRoom()
      this.#opening ??= this.#open()
      await unlessAborted(this.#opening, signal, () => aborted(false))
    }
  }

  /** The node takes no more than this load on one connection. @returns whether that is a limit */
  limit(load: number): boolean {
    if (load === 0) return false
    this.#smaller = { load, untilMs: this.#clock.nowMs() + limitedForMs }
    return true
  }

  /** @param isGentle busy connections close when idle. Resolves when all are closed. */
  close(isGentle: boolean): Promise<void> {
    this.#isClosed = true
    for (const connection of [...this.#connections])
      if (!isGentle || connection.load === 0) connection.close()
    if (this.#connections.size === 0) this.#ended.resolve()
    return this.#ended.promise
  }

  #leastLoaded(): WebSocketConnection | null {
    let best: WebSocketConnection | null = null
    for (const connection of this.#connections)
      if (connection.isUsable && (best === null || connection.load < best.load)) best = connection
    return best
  }

  #open(): Promise<WebSocketConnection> {
    return new Promise<WebSocketConnection>((resolve, reject) => {
      if (this.#isClosed) return reject(new TransportError('aborted', 'closed', false))
      const connection: WebSocketConnection = new WebSocketConnection({
        target: this.#target,
        clock: this.#clock,
        opened: (error) => {
          if (error === null) resolve(connection)
          else reject(error)
        },
        closed: () => {
          this.#connections.delete(connection)
          if (this.#isClosed && this.#connections.size === 0) this.#ended.resolve()
        },
      })
      this.#connections.add(connection)
    }).finally(() => {
      this.#opening = null
    })
  }
}
