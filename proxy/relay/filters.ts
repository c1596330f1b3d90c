// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { parseSpan } from '../json/scanner.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Outgoing } from '../upstream/wire.ts'
import { type Call, Journal } from './call.ts'
import { RelayError, errorKinds, isUnanswered } from './errors.ts'
import type { RelayOptions } from './parts.ts'
import type { Reply } from './reply.ts'

/** Longer ids of nodes are left as they are. */
const nodeId = /^0x[0-9a-f]{1,64}$/i
const routedId = /^0x([0-9a-f]{8})([0-9a-f]{1,64})$/i
/** Filters that are remembered, the least used of which go first, and what one may be of, in JSON. */
const mostRemembered = 1_000
const longestWanted = 16_384
/** What one poll catches up with, where the node of the filter is gone. */
const mostLogBlocks = 1_000
const mostBlocks = 100
/** A node that hangs is given up after this long, where the router can go on without it. */
const patienceMs = 5_000

/** A filter that can go on without its node. */
interface Filter {
  /** Which logs; null: it is of blocks. */
  readonly wanted: object | null
  /** The client has got all up to this block. */
  block: number
  /** Of a filter of blocks: what it has got last, which may be above `block`. */
  lastHash: unknown
  /** Its node is gone, or has forgotten it, or an answer of it was lost. */
  isLost: boolean
}

interface Use {
  readonly id: string
  readonly upstream: Upstream
  /** As the filter's upstream understands it, and for no other. */
  readonly call: Call
}

type Pieces = Pick<RelayOptions, 'chain' | 'pool'>

/**
 * Filters belong to the node that made them. The id that a client gets holds the upstream of its
 * filter, so that any replica asks that one. When it is gone, the replica that made the filter answers
 * from the blocks behind the last one delivered, with the help of the other upstreams; another replica
 * says `filter not found`, as a node says of a filter that has expired: libraries make a new one then.
 *
 * What is needed to go on does not fit into the id: clients read ids into 256 bits.
 */
export class Filters {
  readonly #pieces: Pieces
  readonly #relay: (call: Call) => Promise<Reply>
  readonly #known = new Map<string, Filter>()

  constructor(pieces: Pieces, relay: (call: Call) => Promise<Reply>) {
    this.#pieces = pieces
    this.#relay = relay
  }

  async create(call: Call): Promise<Reply> {
    const reply = await this.#relay(call)
    const own = resultOf(reply, call)
    if (typeof own !== 'string' || !nodeId.test(own)) return reply
    const id = `0x${digestOf(reply.upstream)}${own.slice(2)}`
    const wanted = wantedBy(call)
    if (wanted !== undefined && reply.latestBlock !== null)
      this.#remember(id, { wanted, block: reply.latestBlock, lastHash: null, isLost: false })
    return answered(reply, call, id)
  }

  /** Asks a filter, or ends it. */
  async use(call: Call): Promise<Reply> {
    const use = this.#useOf(call)
    if (use === null) return this.#relay(call)
    const filter = this.#known.get(use.id)
    if (!filter) return this.#relay(use.call).catch(throwNotFound)
    this.#remember(use.id, filter)
    if (call.asked.stateful === 'ends') this.#known.delete(use.id)
    const reply = filter.isLost ? null : await this.#askNode(use, filter)
    return reply ?? this.#goOn(filter, call)
  }

  #remember(id: string, filter: Filter): void {
    this.#known.delete(id)
    this.#known.set(id, filter)
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostRemembered) this.#known.delete(oldest as string)
  }

  /** Null for an id that is none of ours. */
  #useOf(call: Call): Use | null {
    const { request, directives } = call
    const question = questionOf(call)
    const [id, ...more] = question?.params ?? []
    const [, digest, own] = (typeof id === 'string' && routedId.exec(id)) || []
    if (digest === undefined || own === undefined) return null
    const { upstreams } = this.#pieces.pool
    const upstream = upstreams.find(({ name }) => digestOf(name) === digest.toLowerCase())
    if (!upstream) throw notFound()
    const blockProviders = upstreams.filter((each) => each !== upstream).map(({ name }) => name)
    const routed = {
      ...call,
      request: withQuestion(request, { ...question, params: [`0x${own}`, ...more] }),
      directives: { ...directives, selectProvider: upstream.name, blockProviders },
    }
    return { id: (id as string).toLowerCase(), upstream, call: routed }
  }

  /** @returns null when the filter has to go on without its node */
  async #askNode({ call, upstream }: Use, filter: Filter): Promise<Reply | null> {
    const block = upstream.latest?.block ?? 0
    const { directives } = call
    const relayTimeoutMs = directives.relayTimeoutMs ?? (isPoll(call) ? patienceMs : null)
    try {
      const reply = await this.#relay({ ...call, directives: { ...directives, relayTimeoutMs } })
      const result = resultOf(reply, call)
      filter.isLost =
        reply.refusal?.name === 'filter-not-found' || (isPoll(call) && result === undefined)
      if (isPoll(call) && !filter.isLost) delivered(filter, result, block)
      return filter.isLost ? null : reply
    } catch (error) {
      // What the node gives away once may have been on its way.
      filter.isLost = true
      if (isUnanswered(error)) return null
      throw error
    }
  }

  async #goOn(filter: Filter, call: Call): Promise<Reply> {
    const { wanted, block } = filter
    const isEnd = call.asked.stateful === 'ends'
    if (!isEnd && !isPoll(call)) {
      if (wanted === null) throw notFound()
      return this.#elsewhere(call, 'eth_getLogs', [wanted])
    }
    const head = await this.#elsewhere(call, 'eth_blockNumber', [])
    if (isEnd) return answered(head, call, true)
    const headBlock = Number(resultOf(head, call))
    if (!(headBlock > block)) return answered(head, call, [])
    if (wanted === null) return this.#blocks(filter, call, head, headBlock)
    const end = Math.min(headBlock, block + mostLogBlocks)
    const range = { fromBlock: hex(block + 1), toBlock: hex(end) }
    const logs = await this.#elsewhere(call, 'eth_getLogs', [{ ...wanted, ...range }])
    filter.block = end
    return logs
  }

  async #blocks(filter: Filter, call: Call, head: Reply, headBlock: number): Promise<Reply> {
    const { block, lastHash } = filter
    const length = Math.min(headBlock - block, mostBlocks)
    const hashes = await Promise.all(
      Array.from({ length }, async (_, at) => {
        const params = [hex(block + 1 + at), false]
        const reply = await this.#elsewhere(call, 'eth_getBlockByNumber', params)
        return (resultOf(reply, call) as { hash?: unknown } | null)?.hash
      }),
    )
    if (hashes.includes(undefined)) throw notFound()
    filter.block = block + length
    return answered(head, call, hashes.slice(hashes.indexOf(lastHash) + 1))
  }

  /** @throws RelayError also where a node refuses it */
  async #elsewhere(call: Call, method: string, params: readonly unknown[]): Promise<Reply> {
    const { asked, request, journal } = call
    const { internalPath = '' } = asked
    const iface = this.#pieces.chain.interfaces.get('jsonrpc')
    if (!iface) throw notFound()
    const question = { ...questionOf(call), method, params }
    const reply = await this.#relay({
      ...call,
      asked: iface.classify({ apiInterface: 'jsonrpc', method, params, internalPath }),
      request: withQuestion(request, question),
      journal: new Journal(journal.startedMs),
    })
    if (reply.refusal !== null) throw notFound()
    return reply
  }
}

interface Question {
  readonly params: readonly unknown[]
}

function questionOf({ request: { body } }: Call): Question | null {
  if (!(body instanceof Uint8Array)) return null
  const question = parseSpan(body, 0, body.length) as { params?: unknown }
  return { ...question, params: Array.isArray(question.params) ? question.params : [] }
}

function withQuestion(request: Outgoing, question: object): Outgoing {
  return { ...request, body: Buffer.from(JSON.stringify(question)) }
}

/** Which logs a filter is to be of, null for blocks; undefined for what cannot be had of another node. */
function wantedBy(call: Call): object | null | undefined {
  if (call.asked.method === 'eth_newBlockFilter') return null
  if (call.asked.method !== 'eth_newFilter') return undefined
  const [wanted] = questionOf(call)?.params ?? []
  if (typeof wanted !== 'object' || wanted === null) return undefined
  const { toBlock, blockHash } = wanted as { toBlock?: unknown; blockHash?: unknown }
  const goesOn =
    blockHash === undefined && [null, undefined, 'latest', 'pending'].includes(toBlock as null)
  return goesOn && JSON.stringify(wanted).length <= longestWanted ? wanted : undefined
}

/** @param block one that the node had before it was asked */
function delivered(filter: Filter, items: unknown, block: number): void {
  const last: unknown = Array.isArray(items) ? items.at(-1) : null
  const isLog = typeof last === 'object' && last !== null
  const lastBlock = isLog ? Number((last as { blockNumber?: unknown }).blockNumber) || 0 : 0
  filter.block = Math.max(filter.block, block, lastBlock)
  filter.lastHash = last ?? filter.lastHash
}

function isPoll({ asked }: Call): boolean {
  return asked.method === 'eth_getFilterChanges'
}

/** Nobody can say what has become of the filter. */
function throwNotFound(error: unknown): never {
  throw isUnanswered(error) ? notFound(error) : error
}

function notFound(cause?: RelayError): RelayError {
  return new RelayError(errorKinds.filterNotFound, 'filter not found', { cause })
}

/** Undefined for what is no result; null for one that is too long to be collected. */
function resultOf({ incoming, refusal }: Reply, { reader }: Call): unknown {
  if (refusal !== null) return undefined
  if (!(incoming.body instanceof Uint8Array)) return null
  const finding = reader.read(incoming, true)
  return finding.kind === 'result' ? finding.parsed : undefined
}

/** The reply with this result. */
function answered(reply: Reply, { reader }: Call, result: unknown): Reply {
  return { ...reply, incoming: { ...reply.incoming, body: reader.write(result) } }
}

/** Of the upstream's name. Not 0 at its beginning, which clients drop that read an id as a number. */
function digestOf(upstream: string): string {
  const [digit = '', ...digits] = hash('sha256', upstream, 'hex').slice(0, 8)
  return `${(parseInt(digit, 16) | 8).toString(16)}${digits.join('')}`
}

function hex(block: number): string {
  return `0x${block.toString(16)}`
}
