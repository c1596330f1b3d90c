// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { askFor, jsonOf, type Ask } from '../ask.ts'

interface AbciEvent {
  readonly type: string
  readonly attributes?: readonly { readonly key: string; readonly value?: string | null }[] | null
}

/** The result of `block`. An empty list of transactions may be `null`. */
interface BlockAnswer {
  readonly block_id: unknown
  readonly block: {
    readonly header: { readonly height: string }
    readonly data: { readonly txs: readonly string[] | null }
  }
}

/** The result of `block_results`. An empty list may be `null` or absent. */
interface ResultsAnswer {
  readonly height: string
  readonly txs_results?: readonly unknown[] | null
  /** CometBFT 0.38 and later. */
  readonly finalize_block_events?: readonly AbciEvent[] | null
  readonly app_hash?: unknown
  /** Earlier versions. */
  readonly begin_block_events?: readonly AbciEvent[] | null
  readonly end_block_events?: readonly AbciEvent[] | null
  readonly validator_updates?: unknown
  readonly consensus_param_updates?: unknown
}

/** A block with its results, from which its events can be rebuilt. */
export interface TendermintBlock {
  readonly block: BlockAnswer
  readonly results: ResultsAnswer
}

/** The answers may come from different upstreams. @throws BackfillError and what `ask` throws */
export async function fetchBlock(
  ask: Ask,
  height: number,
  prefer: string | null,
  signal: AbortSignal,
): Promise<TendermintBlock> {
  const about = { params: { height: String(height) }, prefer, signal }
  const isBlock = (value: unknown) => isBlockAt(height, value)
  const { value: block } = await askFor(ask, { method: 'block', ...about }, jsonOf(isBlock))
  const count = block.block.data.txs?.length ?? 0
  const areResults = (value: unknown) => areResultsAt(height, count, value)
  const question = { method: 'block_results', ...about }
  const { value: results } = await askFor(ask, question, jsonOf(areResults))
  return { block, results }
}

function isBlockAt(height: number, value: unknown): value is BlockAnswer {
  const { block } = (value ?? {}) as Partial<BlockAnswer>
  const txs = block?.data?.txs
  return block?.header?.height === String(height) && (txs === null || Array.isArray(txs))
}

/** A node that has pruned the results may answer without any list of events. */
function areResultsAt(height: number, count: number, value: unknown): value is ResultsAnswer {
  const results = (value ?? {}) as Partial<ResultsAnswer>
  const lists = [
    results.finalize_block_events,
    results.begin_block_events,
    results.end_block_events,
  ]
  return (
    results.height === String(height) &&
    (results.txs_results?.length ?? 0) === count &&
    lists.every((each) => (each ?? null) === null || Array.isArray(each)) &&
    lists.some((each) => each !== undefined)
  )
}

export function newBlock({ block: { block, block_id }, results }: TendermintBlock): Uint8Array {
  const { finalize_block_events: events, txs_results, app_hash } = results
  if (events === undefined)
    return writeEvent('NewBlock', { block, ...beginAndEnd(results) }, attributesOf(results))
  const result_finalize_block = {
    events: events ?? undefined,
    tx_results: txs_results ?? undefined,
    ...updatesOf(results),
    app_hash: app_hash ?? undefined,
  }
  return writeEvent('NewBlock', { block, block_id, result_finalize_block }, attributesOf(results))
}

export function newBlockHeader({ block: { block }, results }: TendermintBlock): Uint8Array {
  const { header, data } = block
  if (results.finalize_block_events !== undefined)
    return writeEvent('NewBlockHeader', { header }, {})
  const num_txs = String(data.txs?.length ?? 0)
  const value = { header, num_txs, ...beginAndEnd(results) }
  return writeEvent('NewBlockHeader', value, attributesOf(results))
}

function beginAndEnd(results: ResultsAnswer): object {
  const { begin_block_events, end_block_events } = results
  return {
    result_begin_block: { events: begin_block_events ?? undefined },
    result_end_block: { ...updatesOf(results), events: end_block_events ?? undefined },
  }
}

/** A node stores an empty list of validators as `null`. */
function updatesOf({ validator_updates, consensus_param_updates }: ResultsAnswer): object {
  return {
    validator_updates: validator_updates ?? [],
    consensus_param_updates: consensus_param_updates ?? undefined,
  }
}

/** Attributes of a block's events, such as `transfer.amount`, with all their values. */
type Attributes = Readonly<Record<string, readonly string[]>>

/** Tendermint up to 0.36 encodes attributes in base64 without marking them. They pass unchanged. */
function attributesOf(results: ResultsAnswer): Attributes {
  const { finalize_block_events, begin_block_events, end_block_events } = results
  const lists = [finalize_block_events, begin_block_events, end_block_events]
  const events = lists.flatMap((each) => each ?? [])
  const found: Record<string, string[]> = {}
  for (const { type, attributes } of events)
    for (const { key, value } of attributes ?? []) {
      if (type === '' || key === '') continue
      ;(found[`${type}.${key}`] ??= []).push(value ?? '')
    }
  return found
}

/** Writes an event as a node sends it, from the end of the query on. */
function writeEvent(type: string, value: object, attributes: Attributes): Uint8Array {
  const all = Object.entries({ ...attributes, 'tm.event': [type] })
  const sorted = Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const data = JSON.stringify({ type: `tendermint/event/${type}`, value })
  return Buffer.from(`"data":${data},"events":${JSON.stringify(sorted)}`)
}
