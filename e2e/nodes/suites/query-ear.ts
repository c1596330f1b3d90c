// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** An event as a Tendermint node tells it, by its query's side. */
export interface ToldEvent {
  readonly query: string
  readonly data: { readonly type: string; readonly value: Readonly<Record<string, any>> }
  readonly events: Readonly<Record<string, readonly string[]>>
}

interface Message {
  readonly id: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
  readonly result?: ToldEvent | Readonly<Record<string, never>>
}

/** One subscription on a connection of its own, since a node takes five on each. */
export class QueryEar {
  /** Of the node's or the router's refusal; null when it said yes. */
  errorCode: number | null = null
  readonly told: ToldEvent[] = []
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** @param url of the WebSocket */
  static async open(url: string, query: string): Promise<QueryEar> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    const ear = new QueryEar(socket)
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.on('message', (data: Buffer) => {
      const { error, result } = JSON.parse(data.toString()) as Message
      if (result && 'data' in result) ear.told.push(result as ToldEvent)
      else {
        ear.errorCode = error?.code ?? null
        resolve()
      }
    })
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { query } }))
    await promise
    return ear
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }
}
