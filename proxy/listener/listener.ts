// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type AddressInfo, type ListenOptions, Server, type Socket } from 'node:net'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { isForClients } from '../bytes/open-files.ts'
import type { ChainInterface } from '../chain/types.ts'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import { whyOccupied } from '../config/problem.ts'
import type { Address, GrpcLimits, SocketLimits } from '../config/types.ts'
import type { Call, Client } from '../relay/call.ts'
import type { RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import type { SubscriptionForm } from '../subscription/form.ts'
import type { Hub } from '../subscription/hub.ts'
import type { ClientAddresses } from './client-address.ts'

/** A bound address that serves one chain through one interface. */
export interface Listener {
  /**
   * Binds. Resolves with the actual port (a configured 0 picks a free one). @throws Error that
   * names the address
   */
  start(): Promise<Address>
  /**
   * Phase one of a stop: closes each connection after its next answer. An idle connection stays
   * open, because a close would lose a request that its client is just sending. Resolves when no
   * HTTP/1 connection and no stream is left, and no request has arrived for `drainQuietMs`.
   */
  drain(): Promise<void>
  /** Phase two: accepts no more connections. Resolves when none of HTTP/1 and no stream is left. */
  settle(): Promise<void>
  /** Phase three: ends the remaining connections. */
  close(): Promise<void>
  /** Whether a complete call is unanswered. */
  readonly isServing: boolean
}

/** Where a listener's clients subscribe, and in which format. */
export interface SubscriptionServing {
  readonly form: SubscriptionForm
  readonly hub: Pick<Hub, 'subscribe'>
  /** Source of the subscription ids. */
  readonly random: Random
}

/** Dependencies and settings of a listener, for any interface. */
export interface ListenerOptions {
  readonly address: Address
  readonly iface: ChainInterface
  readonly relay: Relay
  readonly clock: Clock
  readonly observer: ListenerObserver
  /** Maximum size of a decoded request body. */
  readonly maxRequestBytes: number
  /** Process-wide budget for buffered requests and answers. */
  readonly budget: ByteBudget
  /** Origins allowed to send browser requests; null: any. */
  readonly allowedOrigins: ReadonlySet<string> | null
  readonly clients: ClientAddresses
  readonly socketLimits: SocketLimits
  readonly grpcLimits: GrpcLimits
  /** Null if the chain has no subscriptions. */
  readonly subscriptions: SubscriptionServing | null
  /** Value of `Router-Version`. */
  readonly version: string
  /** Whether other workers listen on the address too. A supervisor has checked that it is free. */
  readonly isShared?: boolean
  /** Creates a unique id for a request. */
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
  /** The client disconnected before the answer. */
  | { readonly kind: 'abandoned' }

/** Observes the calls and connections of one listener, for metrics and logs. */
export interface ListenerObserver {
  callEnded(call: Call, end: CallEnd, durationMs: number): void
  /** Called for a request refused before it becomes a call: not JSON, too large, and so on. */
  requestRefused(error: RelayError, guid: string, client: Client | null): void
  /** Counts connections of all kinds. */
  connectionsChanged(open: number): void
  /** Counts WebSockets only. */
  socketsChanged(open: number): void
  /** A connection could not be accepted. @param code such as `EMFILE` */
  acceptFailed?(code: string): void
}

/** A drain waits until no request has arrived for this long. */
export const drainQuietMs = 500
const pollMs = 10
/** How long a client may take to close its idle connection after the goodbye. */
export const closeGraceMs = 1_000

/** Length of the accept queue. */
const backlog = 4_096
/**
 * Listening sockets per address. Node accepts one connection per socket and event-loop turn, so
 * with a single socket a connection flood would delay all others by seconds.
 */
const socketsPerAddress = process.platform === 'linux' ? 16 : 1

/** Listening sockets of one server that share its port. */
export class ReusePortListeners {
  readonly #servers: readonly [Server, ...Server[]]
  readonly #observer: Pick<ListenerObserver, 'acceptFailed'>

  /** @param allowHalfOpen as on the server: a client may end its side and still get its answer */
  constructor(
    server: Server,
    allowHalfOpen: boolean,
    observer: Pick<ListenerObserver, 'acceptFailed'>,
  ) {
    this.#observer = observer
    const others = Array.from({ length: socketsPerAddress - 1 }, () =>
      createServer({ noDelay: true, allowHalfOpen }, (socket) => server.emit('connection', socket)),
    )
    this.#servers = [server, ...others]
    // It precedes the listeners of the protocol, which ignore a destroyed socket.
    server.prependListener('connection', (socket: Socket) => {
      if (isForClients(socket)) return
      socket.destroy()
      observer.acceptFailed?.('EMFILE')
    })
  }

  /**
   * @param isShared whether other workers listen on the address too
   * @returns the bound address @throws Error that names the address
   */
  async open({ host, port }: Address, isShared = false): Promise<Address> {
    const [server] = this.#servers
    try {
      const { port: free } = isShared ? { port } : await bindAlone({ host, port })
      const reusePort = isShared || socketsPerAddress > 1
      for (const each of this.#servers) {
        await listening(each, { host, port: free, backlog, reusePort })
        // After the bind, an error concerns one connection that could not be accepted.
        each.on('error', ({ code }: NodeJS.ErrnoException) => {
          this.#observer.acceptFailed?.(code ?? 'unknown')
        })
      }
    } catch (cause) {
      await this.close()
      // Another process took the free port in the meantime.
      if (port === 0 && (cause as NodeJS.ErrnoException).code === 'EADDRINUSE')
        return this.open({ host, port })
      throw cannotListen({ host, port }, cause)
    }
    return { host, port: (server.address() as AddressInfo).port }
  }

  /** Accepts no more connections. Resolves when the last one has ended. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closed))
  }
}

/**
 * Binds an address exclusively and releases it: with SO_REUSEPORT, another router could share it.
 * @returns the address, with the port that was free
 */
async function bindAlone({ host, port }: Address): Promise<Address> {
  const alone = createServer()
  await listening(alone, { host, port })
  const free = (alone.address() as AddressInfo).port
  await closed(alone)
  return { host, port: free }
}

/** @throws Error that names the address, if another process listens on it */
export async function checkFree(address: Address): Promise<void> {
  try {
    await bindAlone(address)
  } catch (cause) {
    throw cannotListen(address, cause)
  }
}

function cannotListen({ host, port }: Address, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException
  const why = whyOccupied(code, 'network-address, in the file or as --network-address')
  return new Error(`cannot listen on ${host}:${port}: ${message}${why}`, { cause })
}

function listening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Fails only if the server never started. The `close` of HTTP would also destroy idle
    // connections, where a request may have arrived.
    Server.prototype.close.call(server, () => resolve())
  })
}

/** Waits at most `withinMs` for the condition, and checks it again after reading pending input. */
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
