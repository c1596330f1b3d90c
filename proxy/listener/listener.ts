// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type AddressInfo, type ListenOptions, Server } from 'node:net'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Address, GrpcLimits, SocketLimits } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import type { RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { SubscriptionForm } from '../subscription/forms/form.ts'
import type { Hub } from '../subscription/hub.ts'

/** A bound address that serves one chain through one interface. */
export interface Listener {
  /** Binds. Resolves with the real port (a configured 0 takes a free one). @throws Error naming the address */
  start(): Promise<Address>
  /**
   * First phase of a stop: goes on answering, and closes every connection after its answer.
   * Resolves when nothing is in flight and no client has sent anything for a moment.
   */
  drain(): Promise<void>
  /**
   * Second phase: accepts no more connections. Resolves when every call that came in whole is answered.
   */
  settle(): Promise<void>
  /** Last: ends the connections that are left. */
  close(): Promise<void>
}

/** Where the clients of a listener subscribe, and in which form. */
export interface SubscriptionServing {
  readonly form: SubscriptionForm
  readonly hub: Pick<Hub, 'subscribe'>
  /** Draws the ids that clients get. */
  readonly random: Random
}

/** What a listener of any interface needs. */
export interface ListenerOptions {
  readonly address: Address
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
  /** The longest request body, decoded. */
  readonly maxRequestBytes: number
  /** Of the process: what it holds of requests and answers. */
  readonly budget: ByteBudget
  /** Pages of these origins are served; null: of any. */
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly socketLimits: SocketLimits
  readonly grpcLimits: GrpcLimits
  /** Null when there is nothing to subscribe to. */
  readonly subscriptions: SubscriptionServing | null
  /** Goes into `Router-Version`. */
  readonly version: string
  /** A new unique name for a request. */
  readonly newGuid: () => string
  /** Whether this listener can serve, for `GET /health`. */
  readonly health: () => boolean
}

/** How a call ended for its client. */
export type CallEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** A subscription was opened or ended, or the node refused it. */
  | { readonly kind: 'subscription'; readonly isRefused: boolean }
  | { readonly kind: 'error'; readonly error: RelayError }
  /** The client left before it was answered. */
  | { readonly kind: 'abandoned' }

/** Observes the calls and connections of one listener; metrics and logs are made from it. */
export interface ListenerObserver {
  callEnded(call: Call, end: CallEnd, durationMs: number): void
  /** Refused before it became a call: not JSON, too large, ... */
  requestRefused(error: RelayError, guid: string): void
  /** Connections of all kinds. */
  connectionsChanged(open: number): void
  /** WebSockets only. */
  socketsChanged(open: number): void
}

/** A drain waits until no request came for this long. */
export const drainQuietMs = 500
const pollMs = 10
/** How long a client may take to close its idle connection after the goodbye. */
export const closeGraceMs = 1_000

/** Connections that may wait to be accepted. */
const backlog = 4_096
/**
 * Sockets that listen on an address. Node accepts one connection of each in a turn of its event loop: with one
 * alone a flood of connections keeps all others waiting for seconds.
 */
const doorCount = process.platform === 'linux' ? 16 : 1

/** The sockets that listen for a server. */
export class ReusePortListeners {
  readonly #servers: readonly [Server, ...Server[]]

  /** @param allowHalfOpen as the server has it: a client may end its side and still be answered */
  constructor(server: Server, allowHalfOpen: boolean) {
    const others = Array.from({ length: doorCount - 1 }, () =>
      createServer({ noDelay: true, allowHalfOpen }, (socket) => server.emit('connection', socket)),
    )
    this.#servers = [server, ...others]
  }

  /** @returns where it listens @throws Error naming the address */
  async open({ host, port }: Address): Promise<Address> {
    const [server] = this.#servers
    try {
      // Sockets that share a port share it with another router as well: that it is free is seen beforehand.
      const alone = createServer()
      await listening(alone, { host, port })
      const free = (alone.address() as AddressInfo).port
      await closed(alone)
      for (const each of this.#servers)
        await listening(each, { host, port: free, backlog, reusePort: doorCount > 1 })
    } catch (cause) {
      await this.close()
      const { code, message } = cause as NodeJS.ErrnoException
      // The free port was taken in between.
      if (port === 0 && code === 'EADDRINUSE') return this.open({ host, port })
      throw new Error(`cannot listen on ${host}:${port}: ${message}`, { cause })
    }
    return { host, port: (server.address() as AddressInfo).port }
  }

  /** Accepts no more connections. Resolves when the last one has ended. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closed))
  }
}

function listening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(options, () => {
      server.off('error', reject)
      // From here on an error is one connection that could not be accepted.
      server.on('error', (error) => process.emitWarning(error))
      resolve()
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // It fails only when the server was never started, which leaves nothing to close either. That of HTTP would also
    // destroy idle connections, on which a request may have come.
    Server.prototype.close.call(server, () => resolve())
  })
}

/** Waits until the condition holds, `withinMs` at most, also once all is read that came while this process was busy. */
export async function until(clock: Clock, isSo: () => boolean, withinMs = Infinity): Promise<void> {
  const untilMs = clock.nowMs() + withinMs
  for (;;) {
    if (isSo()) {
      await new Promise((resolve) => setImmediate(resolve))
      if (isSo()) return
    }
    if (clock.nowMs() >= untilMs) return
    await sleep(clock, pollMs)
  }
}
