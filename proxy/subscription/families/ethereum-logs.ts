// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { subscriptionLimits } from '../../bytes/limits.ts'
import { unlessAborted } from '../../clock/cancellation.ts'
import { LogIndex, type Log } from '../../integrity/log-index.ts'
import type { LogFilter } from '../../integrity/logs.ts'
import { bufferOf, Cursor, parseJson } from '../../json/scanner.ts'
import { CallAborted } from '../../relay/errors.ts'
import { askFor, BackfillError, type Ask, type OwnQuestion } from '../ask.ts'
import type { Position } from '../family.ts'

/** No log fits it: what answers has the block. */
const nobody = { address: `0x${'0'.repeat(40)}` }

type Asked = Pick<OwnQuestion, 'prefer' | 'signal'>

/** The logs of blocks, for all filters. */
export class EthereumLogs {
  /** How many there are. */
  filters = 0
  readonly #ask: Ask
  /** By the block as all filters get it; gone when none of them waits for it. */
  readonly #shared = new WeakMap<Position, Promise<LogIndex | null>>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** All logs of a block that fit, in their order. @throws what asking throws */
  async fetch(block: Position, filter: LogFilter, asked: Asked): Promise<readonly Uint8Array[]> {
    const index =
      this.filters > subscriptionLimits.ownQuestions ? await this.#all(block, asked) : null
    const logs = index?.matching(filter) ?? (await this.#request(block, filter.fields, asked))
    return logs.map(({ event }) => event)
  }

  async #all(block: Position, asked: Asked): Promise<LogIndex | null> {
    let shared = this.#shared.get(block)
    if (!shared) {
      // It is not one filter's own, and ends with its answer.
      shared = this.#requestAll(block, { ...asked, signal: new AbortController().signal })
      this.#shared.set(block, shared)
      shared.catch(() => this.#shared.delete(block))
    }
    return await unlessAborted(shared, asked.signal, () => new CallAborted())
  }

  /** Null where a node answers only what a filter makes short, or knows better which logs fit. */
  async #requestAll(block: Position, asked: Asked): Promise<LogIndex | null> {
    try {
      const index = new LogIndex(await this.#request(block, {}, asked))
      return index.isComplete ? index : null
    } catch (error) {
      if (!(error instanceof BackfillError)) throw error
      await this.#request(block, nobody, asked)
      return null
    }
  }

  /** By the block's hash: a node that does not have the block says so instead of "none". */
  async #request(block: Position, filter: object, asked: Asked): Promise<readonly Log[]> {
    const params = [{ blockHash: block.id, ...filter }]
    const question = { method: 'eth_getLogs', params, ...asked }
    return (await askFor(this.#ask, question, (result) => logsOf(result, block))).value
  }
}

/**
 * In the node's order: how a chain numbers its logs is its own (Hedera and Sei, anew in each transaction).
 * @returns null for what is no list of logs of this block
 */
function logsOf(result: Uint8Array, { id, number }: Position): readonly Log[] | null {
  if (result[0] !== 0x5b) return null
  const logs: Log[] = []
  const cursor = new Cursor(result, 0)
  while (cursor.next()) {
    // A copy of its own: the answer may be far longer than what is kept of it.
    const event = new Uint8Array(bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd))
    const fields = (parseJson(event) ?? {}) as Log['fields']
    const { blockHash, blockNumber } = fields
    const isOfBlock = String(blockHash).toLowerCase() === id && Number(blockNumber) === number
    if (!isOfBlock) return null
    logs.push({ fields, event })
  }
  return cursor.end < 0 ? null : logs
}

/** The log with `removed` true, in the place of that member or as the last one. */
export function markRemoved(log: Uint8Array): Uint8Array {
  return Buffer.from(JSON.stringify({ ...(parseJson(log) as object), removed: true }))
}
