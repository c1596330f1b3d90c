// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'

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
}

/** The open connections of one server. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #clock: Clock
  readonly #changed: (open: number) => void

  constructor(clock: Clock, changed: (open: number) => void) {
    this.#clock = clock
    this.#changed = changed
  }

  /** The record of a socket, made when it is new. */
  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? this.#add(socket)
  }

  get size(): number {
    return this.#open.size
  }

  began(connection: Connection, request: { readonly complete: boolean }): void {
    connection.inFlight += 1
    connection.newest = request
  }

  ended(connection: Connection): void {
    connection.inFlight -= 1
    connection.lastActiveMs = this.#clock.nowMs()
    connection.bytesSeen = connection.socket.bytesRead
  }

  /**
   * Whether nothing is in flight and no client is likely to be about to ask again: none is in the
   * middle of sending, and each connection has been idle for `quietMs`.
   */
  isQuiet(quietMs: number): boolean {
    const sinceMs = this.#clock.nowMs() - quietMs
    for (const connection of this.#open.values())
      if (!isIdle(connection) || connection.lastActiveMs > sinceMs) return false
    return true
  }

  /** Says goodbye where nothing is going on, without a reset for what may be on its way here. */
  endIdle(): void {
    for (const connection of this.#open.values()) if (isIdle(connection)) connection.socket.end()
  }

  #add(socket: Socket): Connection {
    const connection: Connection = {
      socket,
      inFlight: 0,
      newest: null,
      refused: false,
      lastActiveMs: this.#clock.nowMs(),
      bytesSeen: 0,
    }
    this.#open.set(socket, connection)
    this.#changed(this.#open.size)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#changed(this.#open.size)
    })
    return connection
  }
}

function isIdle({ inFlight, socket, bytesSeen }: Connection): boolean {
  return inFlight === 0 && socket.bytesRead === bytesSeen
}
