// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Cancel, Clock } from '../../proxy/clock/clock.ts'
import { readRequest, replyText, RpcError, type RpcCall, type RpcRequest } from './json-rpc.ts'

/** Interval at which the node polls its chain for new blocks. */
const pollMs = 10

export interface Topic {
  /** Method of the notifications. */
  readonly notification: string
  /** The results to send for an event. */
  resultsOf(event: unknown): readonly unknown[]
  /** Ends the subscription after its first event. */
  readonly isOnce?: boolean
}

/** The subscriptions of a node over its WebSockets. */
export interface SocketFeed {
  /** Events since the last call, in order. */
  news(): readonly unknown[]
  /** Opens a topic; null for a call that does not subscribe. */
  subscribe(call: RpcCall): Topic | RpcError | null
  /** The subscription id for a number. */
  idOf(number: number): string | number
}

export interface SocketNode {
  /** Null or absent: no WebSockets. */
  readonly feed?: SocketFeed | null
  /** The text of the reply to a call other than for subscriptions. */
  reply?(request: RpcRequest): string | null
}

/** Behaviour of the node's WebSockets. May change at any time. */
export interface SocketSettings {
  /** Answers calls, but sends no events. */
  isStalled: boolean
  /** Leaves connections open without data, like a machine that lost its network. */
  isHalfOpen: boolean
}

interface Client {
  readonly socket: WebSocket
  readonly topics: Map<unknown, Topic>
}

export class SocketFace {
  readonly settings: SocketSettings = { isStalled: false, isHalfOpen: false }
  readonly #node: SocketNode
  readonly #clock: Clock
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #clients = new Set<Client>()
  #cancelPoll: Cancel | null = null
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
      this.#poll()
    })
  }

  /** Ends every connection. @param code of the close frame; absent: no close frame */
  cut(code?: number): void {
    for (const { socket } of this.#clients)
      if (code === undefined) socket.terminate()
      else socket.close(code)
  }

  /** Ends every subscription, as a node does for a slow client. Connections remain open. */
  endSubscriptions(): void {
    const error = { code: -32_000, message: 'subscription was closed: too slow' }
    for (const { socket, topics } of this.#clients) {
      for (const [subscription, { notification }] of topics)
        socket.send(notificationText(notification, { subscription, error }))
      topics.clear()
    }
  }

  stop(): void {
    this.#cancelPoll?.()
    this.#cancelPoll = null
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

  #poll(): void {
    this.#cancelPoll ??= this.#clock.after(pollMs, () => {
      this.#cancelPoll = null
      const news = this.#node.feed?.news() ?? []
      const { isStalled, isHalfOpen } = this.settings
      if (!isStalled && !isHalfOpen)
        for (const one of news) for (const client of this.#clients) notify(client, one)
      if (this.#clients.size > 0) this.#poll()
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
