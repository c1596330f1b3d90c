// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Socket } from 'node:net'
import type { Clock } from '../../clock/clock.ts'

/** What is known about one connection of a client. */
export interface Connection {
  readonly socket: Socket
  /** Requests whose answer is not written yet; more than one when the client pipelines. */
  inFlight: number
  /** The newest request, which may still be coming in; null before the first. */
  newest: { readonly complete: boolean } | null
  /** Was told that it does not speak HTTP; whatever else it sends is not looked at. */
  refused: boolean
  lastActiveMs: number
  /** What `socket.bytesRead` was when the last request had been read. */
  bytesSeen: number
  /** What it was when it was last looked at. */
  bytesKnown: number
}

/** The open connections of one server. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #upgraded = new Set<Socket>()
  readonly #clock: Clock
  readonly #changed: (open: number) => void
  /** When any connection was last used, those that are gone included. */
  #lastUsedMs = -Infinity

  constructor(clock: Clock, changed: (open: number) => void) {
    this.#clock = clock
    this.#changed = changed
  }

  /** The record of a socket, made when it is new. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? this.#add(socket)
  }

  get size(): number {
    return this.#open.size + this.#upgraded.size
  }

  /** It speaks another protocol from here on, and is looked after elsewhere. */
  upgraded(socket: Socket): void {
    this.#open.delete(socket)
    if (!socket.destroyed) this.#upgraded.add(socket)
  }

  began(connection: Connection, request: { readonly complete: boolean }): void {
    connection.inFlight += 1
    connection.newest = request
  }

  ended(connection: Connection): void {
    connection.inFlight -= 1
    this.#used(connection)
    connection.bytesSeen = connection.socket.bytesRead
  }

  /** Calls that came in whole are being answered. */
  get isServing(): boolean {
    return [...this.#open.values()].some(isServing)
  }

  /**
   * Whether nothing is in flight and no client is likely to ask again soon: for `quietMs` nobody has
   * connected, sent or been answered anything, and who is in the middle of sending a request has
   * sent nothing for `patienceMs`.
   */
  isQuiet(quietMs: number, patienceMs: number): boolean {
    const nowMs = this.#clock.nowMs()
    let patient = true
    for (const connection of this.#open.values()) {
      const { bytesRead } = connection.socket
      if (bytesRead !== connection.bytesKnown) this.#used(connection)
      connection.bytesKnown = bytesRead
      if (isServing(connection)) return false
      if (!isIdle(connection) && nowMs - connection.lastActiveMs <= patienceMs) patient = false
    }
    return patient && nowMs - this.#lastUsedMs > quietMs
  }

  /** Says goodbye where nothing is going on, without a reset for what may be on its way here. */
  endIdle(): void {
    for (const connection of this.#open.values()) if (isIdle(connection)) connection.socket.end()
  }

  #used(connection: Connection): void {
    connection.lastActiveMs = this.#clock.nowMs()
    this.#lastUsedMs = connection.lastActiveMs
  }

  #add(socket: Socket): Connection {
    const connection: Connection = {
      socket,
      inFlight: 0,
      newest: null,
      refused: false,
      lastActiveMs: this.#clock.nowMs(),
      bytesSeen: 0,
      bytesKnown: 0,
    }
    this.#used(connection)
    this.#open.set(socket, connection)
    this.#changed(this.size)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#upgraded.delete(socket)
      this.#changed(this.size)
    })
    return connection
  }
}

/** The newest request may still be coming in, and is no call yet. */
function isServing({ inFlight, newest }: Connection): boolean {
  return inFlight > (newest?.complete === false ? 1 : 0)
}

function isIdle({ inFlight, socket, bytesSeen }: Connection): boolean {
  return inFlight === 0 && socket.bytesRead === bytesSeen
}
