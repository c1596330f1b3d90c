// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toQuantity } from '../json/values.ts'
import { hash } from 'node:crypto'
import { rememberedLimits } from '../bytes/limits.ts'
import { parseSpan } from '../json/scanner.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Outgoing } from '../upstream/wire.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds, isUnanswered } from '../relay/errors.ts'
import { ownCall } from '../relay/own-call.ts'
import type { RelayOptions } from '../relay/relay-context.ts'
import type { Relay } from '../relay/relay.ts'
import { isTrouble, type Reply } from '../relay/reply.ts'

/** Longer ids of nodes pass unchanged. */
const nodeId = /^0x[0-9a-f]{1,64}$/i
const routedId = /^0x([0-9a-f]{8})([0-9a-f]{1,64})$/i
const maxQuestionBytes = 64 * 1024
/** Blocks per poll to catch up with when the filter's node is gone. */
const maxLogBlocks = 1_000
const maxBlocks = 100
/** Time until the router continues without a hanging node. */
const nodeTimeoutMs = 5_000

/** A filter that can continue without its node. */
interface Filter {
  /** Criteria of a log filter; null for a block filter. */
  readonly criteria: object | null
  /** The last block delivered. */
  block: number
  /** Last hash of a block filter delivered, which may be above `block`. */
  lastHash: unknown
  /** Whether its node is gone, hangs or has dropped it, or one of its answers was lost. */
  isLost: boolean
}

interface Use {
  readonly id: string
  readonly upstream: Upstream
  /** Uses the filter's own id at its upstream, and goes nowhere else. */
  readonly call: Call
}

type FilterOptions = Pick<RelayOptions, 'chain' | 'pool'>

/** Wraps a relay to send each call about a filter to the filter's node. */
export function withFilters(relay: Relay, options: FilterOptions): Relay {
  const filters = new Filters(options, relay)
  return (call) => {
    const { stateful } = call.method
    if (stateful === null) return relay(call)
    return stateful === 'creates' ? filters.create(call) : filters.use(call)
  }
}

/**
 * A filter belongs to the node that created it. The client's id names the filter's upstream, so any
 * replica can route to it. When that upstream is gone, the replica that created the filter catches
 * up from other upstreams, after the last block delivered. Other replicas return `filter not
 * found`, as a node does for an expired filter; libraries then create a new one.
 * The id has no room for this state, since clients read ids into 256 bits.
 */
class Filters {
  readonly #options: FilterOptions
  readonly #relay: Relay
  readonly #known = new Map<string, Filter>()

  constructor(options: FilterOptions, relay: Relay) {
    this.#options = options
    this.#relay = relay
  }

  async create(call: Call): Promise<Reply> {
    const reply = await this.#relay(call)
    const own = resultOf(reply, call)
    if (typeof own !== 'string' || !nodeId.test(own)) return reply
    const id = `0x${digestOf(reply.upstream)}${own.slice(2)}`
    const criteria = criteriaOf(call)
    if (criteria !== undefined && reply.latestBlock !== null)
      this.#remember(id, { criteria, block: reply.latestBlock, lastHash: null, isLost: false })
    return answered(reply, call, id)
  }

  /** Polls, reads or removes a filter. */
  async use(call: Call): Promise<Reply> {
    const use = this.#useOf(call)
    if (use === null) return this.#relay(call)
    const filter = this.#known.get(use.id)
    if (!filter) return this.#relay(use.call).catch(throwNotFound)
    this.#remember(use.id, filter)
    if (call.method.stateful === 'ends') this.#known.delete(use.id)
    const reply = filter.isLost ? null : await this.#askNode(use, filter)
    return reply ?? this.#catchUp(filter, call)
  }

  #remember(id: string, filter: Filter): void {
    this.#known.delete(id)
    this.#known.set(id, filter)
    const [oldest] = this.#known.keys()
    if (this.#known.size > rememberedLimits.filters) this.#known.delete(oldest as string)
  }

  /** Null if the id is not from the router. */
  #useOf(call: Call): Use | null {
    const { request, directives } = call
    const question = questionOf(call)
    const [id, ...more] = question?.params ?? []
    const [, digest, own] = (typeof id === 'string' && routedId.exec(id)) || []
    if (digest === undefined || own === undefined) return null
    const { upstreams } = this.#options.pool
    const upstream = upstreams.find(({ name }) => digestOf(name) === digest.toLowerCase())
    if (!upstream) throw notFound()
    const routed = {
      ...call,
      request: withQuestion(request, { ...question, params: [`0x${own}`, ...more] }),
      directives: { ...directives, only: [upstream.name], blockProviders: [] },
    }
    return { id: (id as string).toLowerCase(), upstream, call: routed }
  }

  /** @returns null if the filter must continue without its node */
  async #askNode({ call, upstream }: Use, filter: Filter): Promise<Reply | null> {
    const block = upstream.latest?.block ?? 0
    const { directives } = call
    const relayTimeoutMs = directives.relayTimeoutMs ?? nodeTimeoutMs
    try {
      const reply = await this.#relay({ ...call, directives: { ...directives, relayTimeoutMs } })
      const result = resultOf(reply, call)
      const isForgotten = reply.refusal?.name === 'filter-not-found'
      filter.isLost = isForgotten || (isPoll(call) ? result === undefined : isTrouble(reply))
      if (isPoll(call) && !filter.isLost) delivered(filter, result, block)
      return filter.isLost ? null : reply
    } catch (error) {
      // A poll empties the filter at its node, so a lost answer may have contained items.
      filter.isLost = true
      if (isUnanswered(error)) return null
      throw error
    }
  }

  async #catchUp(filter: Filter, call: Call): Promise<Reply> {
    const { criteria, block } = filter
    const isEnd = call.method.stateful === 'ends'
    if (!isEnd && !isPoll(call)) {
      if (criteria === null) throw notFound()
      return this.#elsewhere(call, 'eth_getLogs', [criteria])
    }
    const head = await this.#elsewhere(call, 'eth_blockNumber', [])
    if (isEnd) return answered(head, call, true)
    const headBlock = Number(resultOf(head, call))
    if (!(headBlock > block)) return answered(head, call, [])
    if (criteria === null) return this.#blocks(filter, call, head, headBlock)
    const end = Math.min(headBlock, block + maxLogBlocks)
    const range = { fromBlock: toQuantity(block + 1), toBlock: toQuantity(end) }
    const logs = await this.#elsewhere(call, 'eth_getLogs', [{ ...criteria, ...range }])
    filter.block = end
    return logs
  }

  async #blocks(filter: Filter, call: Call, head: Reply, headBlock: number): Promise<Reply> {
    const { block, lastHash } = filter
    const length = Math.min(headBlock - block, maxBlocks)
    const hashes = await Promise.all(
      Array.from({ length }, async (_, at) => {
        const params = [toQuantity(block + 1 + at), false]
        const reply = await this.#elsewhere(call, 'eth_getBlockByNumber', params)
        return (resultOf(reply, call) as { hash?: unknown } | null)?.hash
      }),
    )
    if (hashes.includes(undefined)) throw notFound()
    filter.block = block + length
    return answered(head, call, hashes.slice(hashes.indexOf(lastHash) + 1))
  }

  /** @throws RelayError even if a node refuses it */
  async #elsewhere(call: Call, name: string, params: readonly unknown[]): Promise<Reply> {
    const own = ownCall(call, this.#options.chain, name, params)
    if (!own) throw notFound()
    const reply = await this.#relay(own)
    if (reply.refusal !== null) throw notFound()
    return reply
  }
}

interface Question {
  readonly params: readonly unknown[]
}

function questionOf({ request: { body } }: Call): Question | null {
  // A longer body has neither an id of the router nor criteria that it stores.
  if (!(body instanceof Uint8Array) || body.length > maxQuestionBytes) return null
  const question = parseSpan(body, 0, body.length) as { params?: unknown }
  return { ...question, params: Array.isArray(question.params) ? question.params : [] }
}

function withQuestion(request: Outgoing, question: object): Outgoing {
  return { ...request, body: Buffer.from(JSON.stringify(question)) }
}

/** Criteria of a new filter, null for blocks; undefined if other nodes cannot replace its node. */
function criteriaOf(call: Call): object | null | undefined {
  if (call.method.name === 'eth_newBlockFilter') return null
  if (call.method.name !== 'eth_newFilter') return undefined
  const [criteria] = questionOf(call)?.params ?? []
  if (typeof criteria !== 'object' || criteria === null) return undefined
  const { toBlock, blockHash } = criteria as { toBlock?: unknown; blockHash?: unknown }
  const isOpenEnded =
    blockHash === undefined && [null, undefined, 'latest', 'pending'].includes(toBlock as null)
  return isOpenEnded && JSON.stringify(criteria).length <= rememberedLimits.criteriaBytes
    ? criteria
    : undefined
}

/** @param block the node's head before the request */
function delivered(filter: Filter, items: unknown, block: number): void {
  const last: unknown = Array.isArray(items) ? items.at(-1) : null
  const isLog = typeof last === 'object' && last !== null
  const lastBlock = isLog ? Number((last as { blockNumber?: unknown }).blockNumber) || 0 : 0
  filter.block = Math.max(filter.block, block, lastBlock)
  filter.lastHash = last ?? filter.lastHash
}

function isPoll({ method }: Call): boolean {
  return method.name === 'eth_getFilterChanges'
}

/** If no upstream answered, the state of the filter is unknown. */
function throwNotFound(error: unknown): never {
  throw isUnanswered(error) ? notFound(error) : error
}

function notFound(cause?: RelayError): RelayError {
  const isCallersFault = cause === undefined
  return new RelayError(errorKinds.filterNotFound, 'filter not found', { cause, isCallersFault })
}

/** Undefined without a result; null if the body is too long to collect. */
function resultOf({ incoming, refusal }: Reply, { reader }: Call): unknown {
  if (refusal !== null) return undefined
  if (!(incoming.body instanceof Uint8Array)) return null
  const content = reader.read(incoming, true)
  return content.kind === 'result' ? content.parsed : undefined
}

/** The reply with this result. */
function answered(reply: Reply, { reader }: Call, result: unknown): Reply {
  return { ...reply, incoming: { ...reply.incoming, body: reader.write(result) } }
}

/** Digest of the upstream's name. Never starts with 0, which clients drop from a number. */
function digestOf(upstream: string): string {
  const [digit = '', ...digits] = hash('sha256', upstream, 'hex').slice(0, 8)
  return `${(parseInt(digit, 16) | 8).toString(16)}${digits.join('')}`
}
