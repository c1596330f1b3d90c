// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Socket } from 'node:net'
import { Reservation, type ByteBudget } from '../../bytes/byte-budget.ts'
import { clientLimits } from '../../bytes/limits.ts'

/**
 * One client connection. Pipelined requests are served one at a time, and reading pauses until the
 * previous request is answered.
 */
export class Connection extends Reservation {
  /** Requests without a complete answer; more than one if the client pipelines. */
  inFlight = 0
  /** The newest request, which may still be arriving; null before the first. */
  newest: { readonly complete: boolean } | null = null
  readonly #socket: Socket
  readonly #waiting: { readonly bytes: number; readonly serve: () => void }[] = []

  constructor(socket: Socket, budget: ByteBudget) {
    super(budget)
    this.#socket = socket
    // Node resumes the socket for each request body. If the socket is already paused, `pause` does
    // nothing, so the emitted event stops the parser.
    socket.on('resume', () => {
      if (this.isWaiting) socket.pause().emit('pause')
    })
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Whether a complete request is unanswered; the newest one may still be arriving. */
  get hasUnanswered(): boolean {
    return this.inFlight > (this.newest?.complete === false ? 1 : 0)
  }

  /** Queues a request behind the current one. @param bytes that Node buffers for it */
  wait(bytes: number, serve: () => void): void {
    this.hold(bytes)
    if (this.#waiting.push({ bytes, serve }) > clientLimits.waitingRequests) return this.cutOff()
    this.#socket.pause()
    this.waits()
  }

  /** Serves the next queued request, unless the last answer closed the connection. */
  serveNext(): void {
    const socket = this.#socket
    if (!this.isWaiting || socket.writableEnded || socket.destroyed) return
    const next = this.#waiting.shift()
    this.hold(-(next?.bytes ?? 0))
    this.acted()
    // The timeout guarded against a client that does not read the previous answer.
    socket.setTimeout(0)
    if (!this.isWaiting) socket.resume()
    next?.serve()
  }

  override cutOff(): void {
    // Release now, not on close: requests read in one turn could fill the budget for everyone.
    this.finish()
    this.#socket.destroy()
  }
}
