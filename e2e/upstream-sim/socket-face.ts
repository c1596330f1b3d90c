// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cancel, Clock } from '../../proxy/clock/clock.ts'
import { readRequest, replyText, RpcError } from './json-rpc.ts'
import type { RpcCall, RpcRequest } from './json-rpc.ts'

/** How often the node checks its chain for new blocks. */
const lookMs = 10

/** One subscription. */
export interface Topic {
  /** The method of its notifications. */
  readonly notification: string
  /** The results to send for one piece of news. */
  resultsOf(news: unknown): readonly unknown[]
  /** It ends with its first event. */
  readonly isOnce?: boolean
}

/** The subscriptions of a node over its WebSockets. */
export interface SocketFeed {
  /** The events since the last call, in order. */
  news(): readonly unknown[]
  /** Opens a topic; null for a call that does not subscribe, which the node answers. */
  subscribe(call: RpcCall): Topic | RpcError | null
  /** How its subscriptions are numbered. */
  idOf(number: number): string | number
}

/** A node that may have WebSockets. */
export interface SocketNode {
  /** Null, or absent: it has none. */
  readonly feed?: SocketFeed | null
  /** The text of the reply to a call that is about no subscription. */
  reply?(request: RpcRequest): string | null
}

/** How the WebSocket side of a node behaves. Change it at any time. */
export interface SocketSettings {
  /** Calls are answered, but subscriptions get no events. */
  isStalled: boolean
  /** Connections stay open without data: a machine that lost its network. */
  isHalfOpen: boolean
}

interface Client {
  readonly socket: WebSocket
  /** By their ids. */
  readonly topics: Map<unknown, Topic>
}

/** A node's WebSockets. */
export class SocketFace {
  readonly settings: SocketSettings = { isStalled: false, isHalfOpen: false }
  readonly #node: SocketNode
  readonly #clock: Clock
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #clients = new Set<Client>()
  #cancelLook: Cancel | null = null
  #ids = 0

  constructor(node: SocketNode, clock: Clock) {
    this.#node = node
    this.#clock = clock
  }

  get subscriptions(): number {
    return [...this.#clients].reduce((sum, { topics }) => sum + topics.size, 0)
  }

  readonly upgrade = (request: IncomingMessage, wire: Duplex, head: Buffer): void => {
    this.#server.handleUpgrade(request, wire, head, (socket) => {
      const client: Client = { socket, topics: new Map() }
      // Events before the first client are dropped.
      if (this.#clients.size === 0) this.#node.feed?.news()
      this.#clients.add(client)
      socket.on('error', () => undefined)
      socket.on('close', () => this.#clients.delete(client))
      socket.on('message', (data: Buffer) => {
        if (!this.settings.isHalfOpen) this.#receive(client, data.toString())
      })
      this.#look()
    })
  }

  /** Ends every connection. @param code the code of the close frame; absent: no close frame */
  cut(code?: number): void {
    for (const { socket } of this.#clients)
      if (code === undefined) socket.terminate()
      else socket.close(code)
  }

  /** Ends every subscription, as a node does for a client that is too slow. Connections stay. */
  endSubscriptions(): void {
    const error = { code: -32_000, message: 'subscription was closed: too slow' }
    for (const { socket, topics } of this.#clients) {
      for (const [subscription, { notification }] of topics)
        socket.send(notificationText(notification, { subscription, error }))
      topics.clear()
    }
  }

  stop(): void {
    this.#cancelLook?.()
    this.#cancelLook = null
    this.cut()
  }

  #receive({ socket, topics }: Client, text: string): void {
    const { isBatch, items } = readRequest(text)
    const answers = items.flatMap((call) => this.#answer(topics, call) ?? [])
    if (isBatch) socket.send(`[${answers.join(',')}]`)
    else if (answers[0] !== undefined) socket.send(answers[0])
  }

  #answer(topics: Client['topics'], call: RpcCall): string | null {
    const { id, method, params } = call
    if (/unsubscribe$/i.test(method)) {
      const isKnown = topics.delete((params as readonly unknown[])[0])
      return replyText(id, isKnown ? { result: true } : new RpcError(-32000, 'not subscribed'))
    }
    const { feed } = this.#node
    const topic = feed?.subscribe(call) ?? null
    if (topic === null) return this.#node.reply?.({ isBatch: false, items: [call] }) ?? null
    if (topic instanceof RpcError) return replyText(id, topic)
    const result = feed?.idOf(++this.#ids)
    topics.set(result, topic)
    return replyText(id, { result })
  }

  #look(): void {
    this.#cancelLook ??= this.#clock.after(lookMs, () => {
      this.#cancelLook = null
      const news = this.#node.feed?.news() ?? []
      const { isStalled, isHalfOpen } = this.settings
      if (!isStalled && !isHalfOpen)
        for (const one of news) for (const client of this.#clients) notify(client, one)
      if (this.#clients.size > 0) this.#look()
    })
  }
}

function notify({ socket, topics }: Client, news: unknown): void {
  for (const [subscription, topic] of topics)
    for (const result of topic.resultsOf(news)) {
      socket.send(notificationText(topic.notification, { subscription, result }))
      if (topic.isOnce) topics.delete(subscription)
    }
}

function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}
