// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { Cancel, Clock } from '../../clock/clock.ts'
import type { Random } from '../../clock/random.ts'
import { unsent } from './socket-fault.ts'
import { NoRoom } from '../socket-transport.ts'
import { TransportError } from '../transport.ts'
import type { UpstreamTarget } from '../upstream-target.ts'
import { WebSocketConnection } from './websocket-connection.ts'

const firstPauseMs = 100
const longestPauseMs = 5_000
const idleMs = 60_000
/** A node that notifies of its own accord costs a connection no more often. */
const givingUpPauseMs = 10_000

export interface LaneLimits {
  readonly maxConnections: number
  /** The load from which another connection is opened. */
  readonly fullAt: number
  readonly load: (connection: WebSocketConnection) => number
  /** Rather too much on one connection than none. */
  readonly mayExceed: boolean
  /** Its requests open subscriptions. Where none should, what a node notifies of belongs to nobody. */
  readonly subscribes: boolean
}

export interface SocketLaneOptions {
  readonly target: UpstreamTarget
  readonly clock: Clock
  readonly random: Random
  readonly limits: LaneLimits
}

/** Connections to one URL that serve the same end. */
export class SocketLane {
  readonly #options: SocketLaneOptions
  readonly #connections = new Set<WebSocketConnection>()
  #opening: Promise<WebSocketConnection> | null = null
  #pauseMs = firstPauseMs
  #retryAtMs = -Infinity
  #givesUpAtMs = -Infinity
  #lastFault: TransportError | null = null
  #cancelSweep: Cancel | null = null
  #isClosed = false

  constructor(options: SocketLaneOptions) {
    this.#options = options
  }

  /**
   * Uses a connection for one more request: one that is there, or a new one.
   * @param use begins at once, so that the next request sees the load
   * @throws TransportError
   */
  async run<T>(
    signal: CancelSignal,
    use: (connection: WebSocketConnection) => Promise<T>,
  ): Promise<T> {
    const { limits } = this.#options
    for (;;) {
      if (signal.aborted) throw new TransportError('aborted', 'taken back', false)
      const best = this.#best()
      if (best && limits.load(best) < limits.fullAt) return use(best)
      const mayOpen = this.#connections.size < limits.maxConnections
      const spare = best && limits.mayExceed ? best : null
      if (!mayOpen && this.#opening === null) {
        if (spare) return use(spare)
        throw new NoRoom()
      }
      const opening = (this.#opening ??= this.#open())
      if (spare) {
        opening.catch(() => undefined)
        return use(spare)
      }
      await unlessAborted(opening, signal)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelSweep?.()
    for (const connection of [...this.#connections]) connection.close()
  }

  #best(): WebSocketConnection | null {
    const { load } = this.#options.limits
    let best: WebSocketConnection | null = null
    for (const connection of this.#connections)
      if (connection.isUsable && (best === null || load(connection) < load(best))) best = connection
    return best
  }

  #open(): Promise<WebSocketConnection> {
    const { target, clock, random, limits } = this.#options
    return new Promise<WebSocketConnection>((resolve, reject) => {
      if (this.#isClosed) return reject(new TransportError('aborted', 'closed', false))
      if (this.#lastFault && clock.nowMs() < this.#retryAtMs) return reject(unsent(this.#lastFault))
      const connection: WebSocketConnection = new WebSocketConnection({
        target,
        clock,
        opened: (error) => {
          this.#lastFault = error
          if (error === null) {
            this.#pauseMs = firstPauseMs
            return resolve(connection)
          }
          this.#retryAtMs = clock.nowMs() + this.#pauseMs * (0.9 + random.next() / 5)
          this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
          reject(error)
        },
        closed: () => {
          this.#connections.delete(connection)
        },
        givesUpFor: () => !limits.subscribes && this.#mayGiveUp(),
      })
      this.#connections.add(connection)
      this.#cancelSweep ??= clock.after(idleMs, () => {
        this.#sweep()
      })
    }).finally(() => {
      this.#opening = null
    })
  }

  #mayGiveUp(): boolean {
    const nowMs = this.#options.clock.nowMs()
    if (nowMs < this.#givesUpAtMs) return false
    this.#givesUpAtMs = nowMs + givingUpPauseMs
    return true
  }

  /** Closes what nobody has needed for a while. */
  #sweep(): void {
    const { clock } = this.#options
    for (const connection of [...this.#connections]) {
      const { inFlight, subscriptions, usedMs } = connection
      if (inFlight + subscriptions === 0 && clock.nowMs() - usedMs >= idleMs) connection.close()
    }
    this.#cancelSweep =
      this.#connections.size > 0 && !this.#isClosed
        ? clock.after(idleMs, () => {
            this.#sweep()
          })
        : null
  }
}

/** @throws TransportError `aborted` as soon as the signal is; what it waited for goes on */
function unlessAborted<T>(promise: Promise<T>, signal: CancelSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(new TransportError('aborted', 'taken back', false))
    }
    signal.addEventListener('abort', leave, { once: true })
    promise
      .finally(() => {
        signal.removeEventListener('abort', leave)
      })
      .then(resolve, reject)
  })
}
