// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Socket } from 'node:net'
import { Reservation, type ByteBudget } from '../../bytes/byte-budget.ts'
import { clientLimits } from '../../bytes/limits.ts'

/**
 * One connection of a client. Requests that it sends ahead are served one at a time, each once the one
 * before it is answered, and no more is read meanwhile.
 */
export class Connection extends Reservation {
  /** Requests whose answer is not written yet; more than one when the client pipelines. */
  inFlight = 0
  /** The newest request, which may still be coming in; null before the first. */
  newest: { readonly complete: boolean } | null = null
  readonly #socket: Socket
  readonly #waiting: { readonly bytes: number; readonly serve: () => void }[] = []

  constructor(socket: Socket, budget: ByteBudget) {
    super(budget)
    this.#socket = socket
    // Node resumes it for the body of any request. Here it may be paused already, and is read all the
    // same: then `pause` does nothing, and the event stops the parser.
    socket.on('resume', () => {
      if (this.isWaiting) socket.pause().emit('pause')
    })
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** A request that came in whole is not answered yet: the newest may still be coming in. */
  get hasUnanswered(): boolean {
    return this.inFlight > (this.newest?.complete === false ? 1 : 0)
  }

  /** Queues a request behind the one being served. @param bytes that Node buffers for it */
  wait(bytes: number, serve: () => void): void {
    this.hold(bytes)
    if (this.#waiting.push({ bytes, serve }) > clientLimits.waitingRequests) return this.cutOff()
    this.#socket.pause()
    this.waits()
  }

  /** The request before them is answered. Behind an answer that closes the connection none can be. */
  serveNext(): void {
    const socket = this.#socket
    if (!this.isWaiting || socket.writableEnded || socket.destroyed) return
    const next = this.#waiting.shift()
    this.hold(-(next?.bytes ?? 0))
    this.acted()
    // It was for a client that does not read the answer before.
    socket.setTimeout(0)
    if (!this.isWaiting) socket.resume()
    next?.serve()
  }

  override cutOff(): void {
    // Not when the socket has closed: many that are read in one turn of the event loop would fill the budget for all.
    this.finish()
    this.#socket.destroy()
  }
}
