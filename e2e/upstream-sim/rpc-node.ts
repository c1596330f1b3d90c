// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from './faults.ts'
import { type Outcome, readRequest, replyText, RpcError } from './json-rpc.ts'
import type { RpcCall, RpcRequest } from './json-rpc.ts'
import type { ChainNode, NodeRequest } from './served-node.ts'
import type { SocketFeed } from './socket-face.ts'
import type { NodeReply } from './http-reply.ts'

export type RpcParams = readonly unknown[]

/** Returns the result of a call. @throws RpcError for the node's own errors */
export type Method<View> = (view: View, params: RpcParams) => unknown

export interface RpcDialect<View> {
  readonly methods: Readonly<Record<string, Method<View>>>
  /** Order of the named params, by method. */
  readonly names?: Readonly<Record<string, readonly string[]>>
  /** Default: 2.0. Version 1.0 sends errors with an HTTP error status. */
  readonly version?: '1.0' | '2.0'
  /** Error for an unknown method. Default: -32601, "Method not found". */
  readonly notFound?: (method: string) => RpcError
}

/** A JSON-RPC node that serves single calls and batches, and applies answer faults. */
export class RpcNode<View> implements ChainNode {
  readonly view: View
  readonly feed: SocketFeed | null
  readonly #dialect: RpcDialect<View>
  readonly #methods: ReadonlyMap<string, Method<View>>
  readonly #faults: FaultSwitch

  /** @param feed subscriptions over WebSockets; null: none */
  constructor(
    view: View,
    dialect: RpcDialect<View>,
    faults: FaultSwitch,
    feed: SocketFeed | null = null,
  ) {
    this.view = view
    this.feed = feed
    this.#dialect = dialect
    this.#methods = new Map(Object.entries(dialect.methods))
    this.#faults = faults
  }

  answer(request: NodeRequest): NodeReply {
    if (request.verb !== 'POST')
      return { status: 405, contentType: 'text/plain', body: 'use POST', methods: [] }
    const asked = readRequest(request.body.toString())
    const { body, error } = this.#replyTo(asked)
    const status = error !== null && this.#dialect.version === '1.0' ? statusOf(error) : 200
    const methods = asked.items.map(({ method }) => method)
    const id = asked.isBatch ? null : asked.items[0]?.id
    return { status, contentType: 'application/json', body: body ?? '', methods, id }
  }

  /** The text of the reply; null when the request has only notifications. */
  reply(request: RpcRequest): string | null {
    return this.#replyTo(request).body
  }

  #replyTo({ isBatch, items }: RpcRequest): { body: string | null; error: RpcError | null } {
    const outcomes = items.map((call) => this.#replyToCall(call))
    const texts = outcomes.flatMap(({ text }) => text ?? [])
    if (isBatch) return { body: texts.length === 0 ? null : `[${texts.join(',')}]`, error: null }
    return { body: texts[0] ?? null, error: outcomes[0]?.error ?? null }
  }

  #replyToCall(call: RpcCall): { text: string | null; error: RpcError | null } {
    const faults = this.#faults.drawForCall(call.method)
    let outcome = this.#run(call)
    let { id } = call
    if (id === undefined) return { text: null, error: null }
    for (const fault of faults) {
      if (fault.kind === 'wrong-id') id = 'not-what-you-asked'
      if (fault.kind === 'null-result') outcome = { result: null }
      if (fault.kind === 'error') outcome = new RpcError(fault.code, fault.message)
    }
    const error = outcome instanceof RpcError ? outcome : null
    let text = replyText(id, outcome, this.#dialect.version)
    for (const fault of faults)
      if (fault.kind === 'forged')
        text = fault.forge({ ...call, id, params: positional(call.params, []) }, text) ?? text
    return { text, error }
  }

  #run({ method, params }: RpcCall): Outcome {
    const { names, notFound } = this.#dialect
    const run = this.#methods.get(method)
    if (!run) return notFound?.(method) ?? new RpcError(-32601, 'Method not found')
    try {
      return { result: run(this.view, positional(params, names?.[method] ?? [])) }
    } catch (error) {
      if (error instanceof RpcError) return error
      throw error
    }
  }
}

function statusOf({ code }: RpcError): number {
  return code === -32601 ? 404 : 500
}

function positional(params: unknown, names: readonly string[]): RpcParams {
  if (Array.isArray(params)) return params
  if (typeof params !== 'object' || params === null) return []
  return names.map((name) => (params as Record<string, unknown>)[name])
}
