// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { readRequest, replyText } from '../../json-rpc.ts'
import { RpcError } from '../../rpc-error.ts'
import type { SlotChain } from './chain.ts'
import { slotTopics, type SlotTopic } from './socket-topics.ts'

const pattern = /^(\w+?)(Subscribe|Unsubscribe)$/

interface Client {
  readonly socket: WebSocket
  readonly topics: Map<number, { readonly name: string; readonly topic: SlotTopic }>
}

/** A node's WebSockets. As on real ones there are subscriptions on them, and no other methods. */
export class SlotSockets implements Disposable {
  readonly #chain: SlotChain
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #clients = new Set<Client>()
  readonly #unlisten: () => void
  #ids = 0
  #told: number

  constructor(chain: SlotChain) {
    this.#chain = chain
    this.#told = chain.head
    this.#unlisten = chain.onHead((head) => {
      while (this.#told < head) this.#tell(++this.#told)
    })
  }

  /** Names of what is subscribed to. */
  get subscriptions(): string[] {
    const all = [...this.#clients].flatMap(({ topics }) => [...topics.values()])
    return all.map(({ name }) => name)
  }

  readonly upgrade = (request: IncomingMessage, wire: Duplex, head: Buffer): void => {
    this.#server.handleUpgrade(request, wire, head, (socket) => {
      const client: Client = { socket, topics: new Map() }
      this.#clients.add(client)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#clients.delete(client))
      socket.on('message', (data: Buffer) => {
        for (const item of readRequest(data.toString()).items)
          if ('method' in item) {
            const answer = this.#answer(client, item.method, item.params)
            socket.send(replyText(item.id, answer))
          }
      })
    })
  }

  /** Ends every connection, without a word. */
  cut(): void {
    for (const { socket } of this.#clients) socket.terminate()
  }

  [Symbol.dispose](): void {
    this.#unlisten()
    this.cut()
  }

  #answer({ topics }: Client, method: string, params: readonly unknown[]) {
    const [, name = '', verb] = pattern.exec(method) ?? []
    const make = slotTopics.get(name)
    if (!make) return new RpcError(-32601, 'Method not found')
    if (verb === 'Subscribe') {
      topics.set(++this.#ids, { name, topic: make(this.#chain, params) })
      return { result: this.#ids }
    }
    const isKnown = topics.delete(Number(params[0]))
    return isKnown ? { result: true } : new RpcError(-32602, 'Invalid subscription id.')
  }

  #tell(slot: number): void {
    for (const { socket, topics } of this.#clients)
      for (const [subscription, { name, topic }] of topics)
        for (const result of topic.events(slot)) {
          const method = `${name}Notification`
          socket.send(JSON.stringify({ jsonrpc: '2.0', method, params: { result, subscription } }))
          if (topic.isOnce) topics.delete(subscription)
        }
  }
}
