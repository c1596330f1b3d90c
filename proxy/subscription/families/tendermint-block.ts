// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Cursor } from '../../json/cursor.ts'
import { bufferOf } from '../../json/text.ts'
import { askFor, BackfillError, jsonOf, type Ask } from '../ask.ts'

/** How many upstreams are asked for a block whose two answers do not fit each other. */
const mostTries = 3

interface AbciEvent {
  readonly type: string
  readonly attributes?: readonly { readonly key: string; readonly value?: string | null }[] | null
}

/** The answer to `block`. An empty list of transactions may be `null`. */
interface BlockAnswer {
  readonly block_id: unknown
  readonly block: {
    readonly header: { readonly height: string }
    readonly data: { readonly txs: readonly string[] | null }
  }
}

/** The answer to `block_results`. An empty list may be `null` or left out. */
interface ResultsAnswer {
  readonly height: string
  readonly txs_results?: readonly unknown[] | null
  /** CometBFT from 0.38 on. */
  readonly finalize_block_events?: readonly AbciEvent[] | null
  readonly app_hash?: unknown
  /** Before. */
  readonly begin_block_events?: readonly AbciEvent[] | null
  readonly end_block_events?: readonly AbciEvent[] | null
  readonly validator_updates?: unknown
  readonly consensus_param_updates?: unknown
}

/** A block with its results, from which its events can be made again. */
export class TendermintBlock {
  readonly #block: BlockAnswer
  readonly #results: ResultsAnswer

  private constructor(block: BlockAnswer, results: ResultsAnswer) {
    this.#block = block
    this.#results = results
  }

  /**
   * Both answers may come from one upstream each. Where they are not of one block, others are asked.
   * @throws BackfillError when no upstream has the block, and what asking throws
   */
  static async fetch(
    ask: Ask,
    height: number,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<TendermintBlock> {
    const params = { height: String(height) }
    const avoid: string[] = []
    while (avoid.length < mostTries) {
      const about = { params, prefer, avoid: [...avoid], signal }
      const [block, results] = await Promise.all([
        askFor(ask, { method: 'block', ...about }, jsonOf(isBlockAt(height))),
        askFor(ask, { method: 'block_results', ...about }, jsonOf(areResultsAt(height))),
      ])
      const count = block.value.block.data.txs?.length ?? 0
      if (count === (results.value.txs_results?.length ?? 0))
        return new TendermintBlock(block.value, results.value)
      avoid.push(results.upstream)
    }
    throw new BackfillError(`the results of block ${height} are not those of its transactions`)
  }

  get newBlock(): Uint8Array {
    const { block, block_id } = this.#block
    const value = this.#isFinalized
      ? { block, block_id, result_finalize_block: this.#finalized }
      : { block, ...this.#beginAndEnd }
    return writeEvent('NewBlock', value, this.#attributes)
  }

  get newBlockHeader(): Uint8Array {
    const { header, data } = this.#block.block
    if (this.#isFinalized) return writeEvent('NewBlockHeader', { header }, {})
    const num_txs = String(data.txs?.length ?? 0)
    const value = { header, num_txs, ...this.#beginAndEnd }
    return writeEvent('NewBlockHeader', value, this.#attributes)
  }

  get #isFinalized(): boolean {
    return this.#results.finalize_block_events !== undefined
  }

  get #attributes(): Attributes {
    const { finalize_block_events, begin_block_events, end_block_events } = this.#results
    const events = [finalize_block_events, begin_block_events, end_block_events]
    return attributesOf(
      events.flatMap((each) => each ?? []),
      this.#isFinalized,
    )
  }

  get #finalized(): object {
    const { finalize_block_events, txs_results, app_hash } = this.#results
    return {
      events: finalize_block_events ?? undefined,
      tx_results: txs_results ?? undefined,
      ...this.#updates,
      app_hash: app_hash ?? undefined,
    }
  }

  get #beginAndEnd(): object {
    const { begin_block_events, end_block_events } = this.#results
    return {
      result_begin_block: { events: begin_block_events ?? undefined },
      result_end_block: { ...this.#updates, events: end_block_events ?? undefined },
    }
  }

  /** An empty list of validators becomes `null` in a node's store. */
  get #updates(): object {
    const { validator_updates, consensus_param_updates } = this.#results
    return {
      validator_updates: validator_updates ?? [],
      consensus_param_updates: consensus_param_updates ?? undefined,
    }
  }
}

function isBlockAt(height: number): (value: unknown) => value is BlockAnswer {
  return (value): value is BlockAnswer => {
    const { block } = (value ?? {}) as Partial<BlockAnswer>
    const txs = block?.data?.txs
    return block?.header?.height === String(height) && (txs === null || Array.isArray(txs))
  }
}

/** A node that has thrown the results away may answer without any list of events. */
function areResultsAt(height: number): (value: unknown) => value is ResultsAnswer {
  return (value): value is ResultsAnswer => {
    const results = (value ?? {}) as Partial<ResultsAnswer>
    const { finalize_block_events, begin_block_events, end_block_events } = results
    const lists = [finalize_block_events, begin_block_events, end_block_events]
    const areLists = lists.every((each) => (each ?? null) === null || Array.isArray(each))
    const hasAny = lists.some((each) => each !== undefined)
    return results.height === String(height) && hasAny && areLists
  }
}

/** Attributes of the events of a block, as `transfer.amount`, with all values. */
type Attributes = Readonly<Record<string, readonly string[]>>

/** Tendermint up to 0.36 writes attributes in base64, and does not say so. */
function attributesOf(events: readonly AbciEvent[], isPlain: boolean): Attributes {
  const isEncoded = !isPlain && areEncoded(events)
  const found: Record<string, string[]> = {}
  for (const { type, attributes } of events)
    for (const { key, value } of attributes ?? []) {
      if (type === '' || key === '') continue
      const [name, text] = isEncoded ? [decoded(key), decoded(value ?? '')] : [key, value ?? '']
      ;(found[`${type}.${name}`] ??= []).push(text)
    }
  return found
}

/** Taken for base64 when every key of a block can be it. */
function areEncoded(events: readonly AbciEvent[]): boolean {
  const keys = events.flatMap(({ attributes }) => (attributes ?? []).map(({ key }) => key))
  const isEncoded = (key: string) =>
    Buffer.from(key, 'base64').toString('base64') === key && !/[^\x20-\x7e]/.test(decoded(key))
  return keys.length > 0 && keys.every(isEncoded)
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString()
}

/** An event as a node would send it, in the part that is behind the query. */
function writeEvent(type: string, value: object, attributes: Attributes): Uint8Array {
  const all = Object.entries({ ...attributes, 'tm.event': [type] })
  const sorted = Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const data = JSON.stringify({ type: `tendermint/event/${type}`, value })
  return Buffer.from(`"data":${data},"events":${JSON.stringify(sorted)}`)
}

/**
 * What all clients share of an event: its members but the query, which each client has in its own
 * spelling, without the braces.
 */
export function behindQuery(event: Uint8Array): Uint8Array {
  if (event[0] !== 0x7b) return event
  const parts: Uint8Array[] = []
  const cursor = new Cursor(event, 0)
  while (cursor.next()) {
    if (cursor.isNamed('query')) continue
    if (parts.length > 0) parts.push(Buffer.from(','))
    parts.push(bufferOf(event).subarray(cursor.nameStart, cursor.valueEnd))
  }
  return Buffer.concat(parts)
}
