// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toQuantity } from '../../json/values.ts'
import { bufferOf, Cursor, parseJson } from '../../json/scanner.ts'
import { toBlockNumber } from '../../upstream/dialect.ts'
import { askFor, BackfillError, type Ask, type OwnQuestion } from '../ask.ts'
import type { Backfill, Block, ChainReader, Family, LogSource, Path } from '../family.ts'
import { subscribeRequest } from './form.ts'
import { subscriptionLimits } from '../../bytes/limits.ts'
import { unlessAborted } from '../../clock/cancellation.ts'
import { LogIndex, type Log } from '../../integrity/log-index.ts'
import type { LogFilter } from '../../integrity/logs.ts'
import { CallAborted } from '../../relay/errors.ts'
import type { Position } from '../subscriptions.ts'

/** Blocks fetched concurrently. */
const atOnce = 8

/** The sequence of new heads, and the logs of their blocks. */
export function ethereumFamily(ask: Ask): Family {
  return { readers: { newHeads: new EthereumHeads(ask) }, head: 'newHeads' }
}

/** Parent hashes link the heads; a reorg replaces them. */
class EthereumHeads implements ChainReader {
  readonly request = { ...subscribeRequest(['newHeads']), readHead }
  readonly forks = true
  readonly unit = 'blocks'
  readonly logs: EthereumLogs
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.logs = new EthereumLogs(ask)
    this.#ask = ask
  }

  /** An event passes unchanged, including unknown members. */
  read(event: Uint8Array): Block | null {
    const block = readHead(event)
    return block && { ...block, event }
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Block> {
    const question = { method: 'eth_getBlockByNumber', params: ['latest', false], prefer, signal }
    return (await askFor(this.#ask, question, readHead)).value
  }

  /** Walks back from the block, parent by parent, to a block that was sent. */
  async pathTo(block: Block, backfill: Backfill): Promise<Path | null> {
    const { sent, tip, maxBlocks } = backfill
    const { lowest } = sent
    const branch = [block]
    let fetched: ReadonlyMap<string, Block> = new Map()
    let below: Position | null = lowest
    for (let oldest = block; ; oldest = branch.at(-1) as Block) {
      const fork = sent.find(oldest.parent as string)
      if (fork) return { fork, blocks: branch.toReversed() }
      if (lowest && oldest.number <= lowest.number) {
        // The branches fork below every sent block, so walk the old branch back as well.
        if (below && below.parent !== oldest.parent)
          below = await this.#parentOf(below, backfill).catch(nullIfMissing)
        else below = null
        if (below === null) return { fork: null, blocks: branch.toReversed() }
      }
      if (branch.length > maxBlocks) return null
      if (branch.length === 2) fetched = await this.#between(tip, oldest, backfill)
      branch.push(fetched.get(oldest.parent as string) ?? (await this.#parentOf(oldest, backfill)))
    }
  }

  /** Fetches the blocks between two heights by number. A reorg meanwhile makes them useless. */
  async #between(
    { number: below }: Position,
    { number: above }: Position,
    { prefer, signal }: Backfill,
  ): Promise<ReadonlyMap<string, Block>> {
    const found = new Map<string, Block>()
    const method = 'eth_getBlockByNumber'
    for (let first = below + 1; first < above; first += atOnce) {
      const count = Math.min(atOnce, above - first)
      const answers = Array.from({ length: count }, (_, at) => {
        const params = [toQuantity(first + at), false]
        return this.#ask({ method, params, prefer, avoid: [], signal })
      })
      for (const { result } of await Promise.all(answers)) {
        const block = readHead(result)
        if (block) found.set(block.id, block)
      }
    }
    return found
  }

  /** A lagging upstream may lack the parent, so this tries others. */
  async #parentOf({ number, parent }: Position, { prefer, signal }: Backfill): Promise<Block> {
    const question = { method: 'eth_getBlockByHash', params: [parent, false], prefer, signal }
    const { value } = await askFor(this.#ask, question, (result) => {
      const found = readHead(result)
      return found?.id === parent && found.number === number - 1 ? found : null
    })
    return value
  }
}

function nullIfMissing(error: unknown): null {
  if (error instanceof BackfillError) return null
  throw error
}

/** Members of a block that are not in its header. A new head omits them. */
const bodyMembers: ReadonlySet<string> = new Set([
  'transactions',
  'uncles',
  'withdrawals',
  'size',
  'totalDifficulty',
])

/**
 * Reads a block or a header. Its event has the members of the header, byte for byte.
 * @returns null if the value is not a block, such as `null`
 */
export function readHead(bytes: Uint8Array): Block | null {
  if (bytes[0] !== 0x7b) return null
  const text = bufferOf(bytes)
  const members: string[] = []
  const values = new Map<string, string>()
  let isHeader = true
  const cursor = new Cursor(bytes, 0)
  while (cursor.next()) {
    const name = text.toString('latin1', cursor.nameStart + 1, cursor.nameEnd - 1)
    if (bodyMembers.has(name)) {
      isHeader = false
      continue
    }
    values.set(name, text.toString('latin1', cursor.valueStart + 1, cursor.valueEnd - 1))
    members.push(text.toString('utf8', cursor.nameStart, cursor.valueEnd))
  }
  const number = toBlockNumber(values.get('number'), 'hex')
  const id = hashOf(values.get('hash'))
  const parent = hashOf(values.get('parentHash'))
  if (cursor.end < 0 || number === null || id === null || parent === null) return null
  const event = isHeader ? bytes : Buffer.from(`{${members.join(',')}}`)
  return { number, id, parent, event }
}

function hashOf(text: string | undefined): string | null {
  return text !== undefined && /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}

/** No log matches this filter, so any answer proves that the node has the block. */
const matchesNothing = { address: `0x${'0'.repeat(40)}` }

type RequestOptions = Pick<OwnQuestion, 'prefer' | 'signal'>

/** Fetches the logs of blocks, for all filters. */
class EthereumLogs implements LogSource {
  filters = 0
  readonly #ask: Ask
  /** The shared request for each block. The entry disappears when no filter needs the block. */
  readonly #shared = new WeakMap<Position, Promise<LogIndex | null>>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async fetch(
    block: Position,
    filter: LogFilter,
    request: RequestOptions,
  ): Promise<readonly Uint8Array[]> {
    const index =
      this.filters > subscriptionLimits.ownQuestions ? await this.#all(block, request) : null
    const logs = index?.matching(filter) ?? (await this.#request(block, filter.fields, request))
    return logs.map(({ event }) => event)
  }

  async #all(block: Position, request: RequestOptions): Promise<LogIndex | null> {
    let shared = this.#shared.get(block)
    if (!shared) {
      // No single filter owns this request, so it has its own signal.
      shared = this.#requestAll(block, { ...request, signal: new AbortController().signal })
      this.#shared.set(block, shared)
      shared.catch(() => this.#shared.delete(block))
    }
    return await unlessAborted(shared, request.signal, () => new CallAborted())
  }

  /** Null if a node answers only filtered requests, or matches logs differently. */
  async #requestAll(block: Position, request: RequestOptions): Promise<LogIndex | null> {
    try {
      const index = new LogIndex(await this.#request(block, {}, request))
      return index.isComplete ? index : null
    } catch (error) {
      if (!(error instanceof BackfillError)) throw error
      await this.#request(block, matchesNothing, request)
      return null
    }
  }

  /** Requests by block hash, so a node without the block fails instead of returning no logs. */
  async #request(
    block: Position,
    filter: object,
    request: RequestOptions,
  ): Promise<readonly Log[]> {
    const params = [{ blockHash: block.id, ...filter }]
    const question = { method: 'eth_getLogs', params, ...request }
    return (await askFor(this.#ask, question, (result) => logsOf(result, block))).value
  }
}

/**
 * Preserves the node's order, because numbering differs by chain (Hedera and Sei: per transaction).
 * @returns null if the result is not a list of logs of this block
 */
function logsOf(result: Uint8Array, { id, number }: Position): readonly Log[] | null {
  if (result[0] !== 0x5b) return null
  const logs: Log[] = []
  const cursor = new Cursor(result, 0)
  while (cursor.next()) {
    // Copies the bytes, because a view would retain the whole answer.
    const event = new Uint8Array(bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd))
    const fields = (parseJson(event) ?? {}) as Log['fields']
    const { blockHash, blockNumber } = fields
    const isOfBlock = String(blockHash).toLowerCase() === id && Number(blockNumber) === number
    if (!isOfBlock) return null
    logs.push({ fields, event })
  }
  return cursor.end < 0 ? null : logs
}

/** The log with `removed` set to true, either in place or appended. */
export function markRemoved(log: Uint8Array): Uint8Array {
  return Buffer.from(JSON.stringify({ ...(parseJson(log) as object), removed: true }))
}
