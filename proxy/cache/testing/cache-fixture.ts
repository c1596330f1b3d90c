// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { makeJsonRpcCall, ownHeaders } from '../../listener/jsonrpc/jsonrpc-call.ts'
import { JsonRpcReplyReader } from '../../listener/jsonrpc/jsonrpc-reply-reader.ts'
import { JsonRpcRequest } from '../../listener/jsonrpc/jsonrpc-request.ts'
import type { ChainInterface } from '../../chain/types.ts'
import type { CachePolicy } from '../../config/types.ts'
import { type Call, type Directives, noDirectives } from '../../relay/call.ts'
import { RelayError } from '../../relay/errors.ts'
import { ethereum, RelayFixture } from '../../relay/testing/relay-fixture.ts'
import { dialects } from '../../upstream/dialect.ts'
import type { Script, ScriptedAnswer } from '../../upstream/testing/scripted-transport.ts'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import type { BodyStream, Outgoing } from '../../upstream/wire.ts'
import { withCache } from '../cache.ts'
import { lifetimesOf } from '../retention.ts'
import { MemoryStore } from '../memory-store.ts'
import type { SharedAnswers } from '../shared-cache.ts'

const bundled = await ethereum()

/** A request at a node. */
export interface Question {
  readonly method: string
  readonly params: readonly unknown[]
  readonly id: unknown
}

export type Answering = (question: Question, node: string) => unknown

/** The outcome of a call for its client, and its cache note. */
export interface CallResult {
  /** `hit latest`, `bypass none write`. */
  readonly cache: string
  readonly answer: unknown
  readonly text: string
  readonly upstream: string | null
}

/** What the node returns instead of a result. */
export class Instead {
  readonly answer: ScriptedAnswer
  constructor(answer: ScriptedAnswer) {
    this.answer = answer
  }
}

export interface CacheFixtureOptions {
  readonly policies?: readonly CachePolicy[]
  readonly crossValidated?: readonly string[]
  readonly maxBytes?: number
  readonly nodes?: string
  readonly shared?: SharedAnswers
  /** Number of blocks behind the tip at which a block is final; by default as on Ethereum. */
  readonly finality?: number
  /** Replaces `answering` on interfaces other than JSON-RPC. */
  readonly script?: Script
  /** Default: Ethereum. */
  readonly of?: Awaited<ReturnType<typeof ethereum>>
}

/** A cached JSON-RPC relay over scripted nodes in virtual time. */
export class CacheFixture extends RelayFixture {
  /** Returns the answer of a node: a result or an `Instead`. */
  answering: Answering
  readonly store: MemoryStore
  /** Streamed answers, for tests to read. */
  readonly streams: BodyStream[] = []
  readonly budget = new ByteBudget(100_000_000)
  #head = 0
  readonly #iface: ChainInterface

  constructor(answering: Answering, options: CacheFixtureOptions = {}) {
    const { nodes = 'a', policies = [], crossValidated = [], maxBytes = 1024 * 1024 } = options
    const { chain, iface } = options.of ?? bundled
    const addons = [...iface.addons].filter((addon) => addon !== 'archive')
    const script = (node: string) => ({
      urls: [{ addons }],
      script: (request: Outgoing): ScriptedAnswer => {
        if (options.script) return options.script(request)
        const { body } = request
        const question = JSON.parse(Buffer.from(body as Uint8Array).toString()) as Question
        const answer = this.answering(question, node)
        if (answer instanceof Instead) return answer.answer
        return { body: JSON.stringify({ jsonrpc: '2.0', id: question.id, result: answer }) }
      },
    })
    super(chain, iface, Object.fromEntries([...nodes].map((name) => [name, script(name)])))
    this.#iface = iface
    this.answering = answering
    this.store = new MemoryStore(maxBytes, this.budget)
    const { pool, clock, store } = this
    const scope = 'core'
    const dialect = dialects[iface.apiInterface]
    const { shared = null, finality } = options
    this.relay = withCache(this.relay, {
      chain: finality === undefined ? chain : { ...chain, finality },
      iface,
      pool,
      dialect,
      clock,
      turns: this.budget.turns,
      store,
      shared,
      policies: {
        now: {
          lifetimes: lifetimesOf(policies, chain.blockTimeMs),
          crossValidated: new Set(crossValidated),
        },
      },
      scope,
    })
  }

  get requests(): number {
    return Object.values(this.sent).reduce((sum, each) => sum + each, 0)
  }

  /** Sets the head of all or some nodes. */
  heads(block: number, nodes?: string): this {
    this.#head = block
    for (const each of this.pool.upstreams)
      if (nodes === undefined || nodes.includes(each.name))
        this.pool.observeHead(each, block, this.clock.nowMs(), each.urls[0]!)
    return this
  }

  /** Adds a block. */
  grow(): this {
    return this.heads(this.#head + 1)
  }

  /** Sends a call without advancing the clock. */
  async start(
    method: string,
    params: readonly unknown[] | string | null = [],
    more: More = {},
  ): Promise<CallResult> {
    const { id = 1, signal = new AbortController().signal, version = '"jsonrpc":"2.0",' } = more
    const paramsText = typeof params === 'string' ? params : JSON.stringify(params)
    const member = params === null ? '' : `,"params":${paramsText}`
    const body = Buffer.from(`{${version}"id":${JSON.stringify(id)},"method":"${method}"${member}}`)
    const request = new JsonRpcRequest(body, { start: 0, end: body.length })
    const directives = { ...noDirectives, ...more.directives }
    const origin = { directives, requestHeaders: ownHeaders, internalPath: '', signal }
    const serving = { iface: this.#iface, clock: this.clock }
    const made = makeJsonRpcCall(request, origin, 'guid', serving)
    const call = more.isBody ? { ...made, payload: undefined } : made
    call.journal.clientDeadlineMs = more.deadlineMs ?? Infinity
    return this.#run(call)
  }

  async #run(call: Call): Promise<CallResult> {
    const result = await this.relay(call).then(
      (reply) => {
        const { body: raw } = reply.incoming
        if (!(raw instanceof Uint8Array)) this.streams.push(raw)
        const { reader } = call
        const bytes = reader instanceof JsonRpcReplyReader ? reader.bodyOf(reply.incoming) : raw
        const text = bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : 'a stream'
        return { text, upstream: reply.upstream }
      },
      (error: Error) => ({
        text: error instanceof RelayError ? error.kind.reason : error.name,
        upstream: null,
      }),
    )
    const { verdict, ageClass, why } = call.journal.cache!
    const cache = [verdict, ageClass, ...(why === null ? [] : [why])].join(' ')
    const isJson = result.text.startsWith('{')
    const answer = isJson ? (JSON.parse(result.text) as { result: unknown }).result : undefined
    return { ...result, cache, answer }
  }

  /** Sends a call and advances the clock until there is an answer. */
  get(...request: Parameters<CacheFixture['start']>): Promise<CallResult> {
    return this.#pass(this.start(...request))
  }

  /** Like `get`, for a call of any interface. */
  getCall(call: Call): Promise<CallResult> {
    return this.#pass(this.#run(call))
  }

  async #pass(result: Promise<CallResult>): Promise<CallResult> {
    let isOver = false
    void result.then(() => (isOver = true))
    for (let each = 0; each < 100_000 && !isOver; each++) await this.clock.advance(1)
    return result
  }
}

interface More {
  /** Uses the whole body instead of params, as in REST. */
  readonly isBody?: boolean
  readonly id?: unknown
  readonly directives?: Partial<Directives>
  readonly signal?: AbortSignal
  /** Deadline of the client. */
  readonly deadlineMs?: number
  /** Replaces version 2.0. */
  readonly version?: string
}
