// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cancel, Clock } from '../../proxy/clock/clock.ts'
import type { EthereumNode } from './ethereum-node.ts'
import { readRequest, replyText, type RpcCall } from './json-rpc.ts'
import { isOfTopic, NodeEvents, resultOf, type NodeEvent } from './node-events.ts'
import { RpcError } from './rpc-error.ts'

/** How often the node looks whether its chain has moved. */
const lookMs = 10

/** How the WebSocket side of a node behaves. Change it at any time. */
export interface SocketSettings {
  /** Upgrades are answered with HTTP 503. */
  refuses: boolean
  /** Calls are answered, and subscriptions hear nothing. */
  isStalled: boolean
  /** Connections stay open, and nothing goes in or out: a machine that lost its network. */
  isHalfOpen: boolean
  /** Everything goes out so much later. */
  delayMs: number
  /** Heads have hashes that no block has. */
  lies: boolean
}

interface Client {
  readonly socket: WebSocket
  /** Params of what it subscribed to, by id. */
  readonly topics: Map<string, readonly unknown[]>
}

/** A node's WebSockets: every method, and `eth_subscribe` to heads and logs. */
export class SocketSide {
  readonly settings: SocketSettings = {
    refuses: false,
    isStalled: false,
    isHalfOpen: false,
    delayMs: 0,
    lies: false,
  }
  readonly #node: EthereumNode
  readonly #clock: Clock
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #clients = new Set<Client>()
  #events: NodeEvents | null = null
  #cancelLook: Cancel | null = null
  #ids = 0

  constructor(node: EthereumNode, clock: Clock) {
    this.#node = node
    this.#clock = clock
  }

  get connections(): number {
    return this.#clients.size
  }

  get subscriptions(): number {
    return [...this.#clients].reduce((sum, { topics }) => sum + topics.size, 0)
  }

  upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    if (this.settings.refuses) {
      wire.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    this.#server.handleUpgrade(request, wire, head, (socket) => {
      const client: Client = { socket, topics: new Map() }
      this.#clients.add(client)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#clients.delete(client))
      socket.on('message', (data: Buffer) => {
        if (!this.settings.isHalfOpen) this.#received(client, data.toString())
      })
      this.#events ??= new NodeEvents(this.#node.view)
      this.#look()
    })
  }

  /** Ends every connection. @param code a goodbye with this code; absent: without a word */
  cut(code?: number): void {
    for (const { socket } of this.#clients)
      if (code === undefined) socket.terminate()
      else socket.close(code)
  }

  /** Ends every subscription, as a node does for a client that is too slow. Connections stay. */
  endSubscriptions(): void {
    const error = { code: -32_000, message: 'subscription was closed: too slow' }
    for (const client of this.#clients) {
      for (const subscription of client.topics.keys()) {
        const message = { jsonrpc: '2.0', method: 'eth_subscription' }
        this.#send(client, JSON.stringify({ ...message, params: { subscription, error } }))
      }
      client.topics.clear()
    }
  }

  stop(): void {
    this.#cancelLook?.()
    this.#cancelLook = null
    this.cut()
  }

  #received(client: Client, text: string): void {
    const request = readRequest(text)
    const [call] = request.items
    const own = call && 'method' in call ? this.#subscribe(client, call) : null
    const answer = own ?? this.#node.answer(request)
    if (answer !== null) this.#send(client, answer)
  }

  #subscribe({ topics }: Client, { id, method, params }: RpcCall): string | null {
    if (method === 'eth_unsubscribe') {
      const isKnown = topics.delete(String(params[0]))
      const missing = new RpcError(-32000, 'subscription not found')
      return replyText(id, isKnown ? { result: true } : missing)
    }
    if (method !== 'eth_subscribe') return null
    if (params[0] !== 'newHeads' && params[0] !== 'logs')
      return replyText(id, new RpcError(-32601, `no "${String(params[0])}" subscription`))
    const name = `0x${(++this.#ids).toString(16)}`
    topics.set(name, params)
    return replyText(id, { result: name })
  }

  #look(): void {
    this.#cancelLook ??= this.#clock.after(lookMs, () => {
      this.#cancelLook = null
      const events = this.#events?.next() ?? []
      const { isStalled, isHalfOpen } = this.settings
      if (!isStalled && !isHalfOpen) for (const event of events) this.#tell(event)
      if (this.#clients.size > 0) this.#look()
    })
  }

  #tell(event: NodeEvent): void {
    const truth = resultOf(event)
    const result = this.settings.lies ? { ...truth, hash: `0x${'66'.repeat(32)}` } : truth
    for (const client of this.#clients)
      for (const [subscription, params] of client.topics)
        if (isOfTopic(event, params)) {
          const message = { jsonrpc: '2.0', method: 'eth_subscription' }
          this.#send(client, JSON.stringify({ ...message, params: { subscription, result } }))
        }
  }

  #send({ socket }: Client, text: string): void {
    const { delayMs } = this.settings
    if (delayMs === 0) socket.send(text)
    else
      this.#clock.after(delayMs, () => {
        socket.send(text)
      })
  }
}
