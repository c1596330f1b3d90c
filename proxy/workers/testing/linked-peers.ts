// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { PeerMessage, Peers } from '../messages.ts'

type Received = (from: number, message: PeerMessage) => void

/** Links workers as their supervisor does: messages arrive as copies, in a later turn. */
export class LinkedPeers {
  readonly #received = new Map<number, Received[]>()
  /** The messages so far, as `1 -> 2 pull`. */
  readonly sent: string[] = []

  /** @param number of the worker, from 1 */
  of(number: number): Peers {
    const own: Received[] = []
    this.#received.set(number, own)
    return {
      send: (to, message) => this.#send(number, to, structuredClone(message)),
      listen: (received) => void own.push(received),
    }
  }

  /** Ends a worker: it receives nothing more, and the others are notified. */
  end(number: number): void {
    this.#received.delete(number)
    this.#send(number, null, { kind: 'gone' })
  }

  #send(from: number, to: number | null, message: PeerMessage): void {
    this.sent.push(`${from} -> ${to ?? 'all'} ${message.kind}`)
    if (to !== null && !this.#received.has(to)) return this.#send(to, from, { kind: 'gone' })
    setImmediate(() => {
      for (const [number, all] of this.#received)
        if (number !== from && (to === null || to === number))
          for (const received of all) received(from, message)
    })
  }
}
