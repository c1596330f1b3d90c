// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { Ask } from '../ask.ts'
import { Unconnected } from '../failures.ts'
import { askFor, jsonOf } from './own-value.ts'
import {
  areOfOneBlock,
  areResultsAt,
  isBlockAt,
  type BlockAnswer,
  type ResultsAnswer,
  type TxResult,
} from './tendermint-answers.ts'
import { attributesOf, writeEvent, type AbciEvent, type Attributes } from './tendermint-event.ts'

/** How often the two answers about a block are asked for until they are of one block. */
const mostTries = 5

/** A transaction of a block, as a subscriber would be told of it. */
export interface BlockTransaction {
  readonly attributes: Attributes
  readonly event: Uint8Array
}

/** A block with its results, from which every event of it can be told once more. */
export class TendermintBlock {
  readonly #block: BlockAnswer
  readonly #results: ResultsAnswer

  private constructor(block: BlockAnswer, results: ResultsAnswer) {
    this.#block = block
    this.#results = results
  }

  /**
   * Both answers about a block may come from one upstream each. Where they contradict each other, one
   * upstream is asked for both; when it contradicts itself, it has failed, and others are asked.
   * @throws Unconnected when nobody tells of it as it should be, and what asking throws
   */
  static async fetch(
    ask: Ask,
    height: number,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<TendermintBlock> {
    const params = { height: String(height) }
    const avoid: string[] = []
    let rather = prefer
    for (let tries = 0; tries < mostTries; tries++) {
      const about = { params, prefer: rather, avoid, signal }
      const [block, results] = await Promise.all([
        askFor(ask, { method: 'block', ...about }, jsonOf(isBlockAt(height))),
        askFor(ask, { method: 'block_results', ...about }, jsonOf(areResultsAt(height))),
      ])
      if (areOfOneBlock(block.value, results.value))
        return new TendermintBlock(block.value, results.value)
      rather = block.upstream
      if (block.upstream !== results.upstream) continue
      avoid.push(block.upstream)
      rather = null
    }
    throw new Unconnected(`block ${height} has not the transactions that its results are of`)
  }

  get newBlock(): Uint8Array {
    const { block, block_id } = this.#block
    const value = this.#isFinalized
      ? { block, block_id, result_finalize_block: this.#finalized }
      : { block, ...this.#beginAndEnd }
    return writeEvent(
      'NewBlock',
      value,
      this.#attributesOf(this.#events, { 'tm.event': ['NewBlock'] }),
    )
  }

  get newBlockHeader(): Uint8Array {
    const { header, data } = this.#block.block
    const own = { 'tm.event': ['NewBlockHeader'] }
    if (this.#isFinalized) return writeEvent('NewBlockHeader', { header }, own)
    const num_txs = String(data.txs?.length ?? 0)
    const value = { header, num_txs, ...this.#beginAndEnd }
    return writeEvent('NewBlockHeader', value, this.#attributesOf(this.#events, own))
  }

  get transactions(): readonly BlockTransaction[] {
    const { header, data } = this.#block.block
    const { height } = header
    return (data.txs ?? []).map((tx, index) => {
      const result = this.#results.txs_results?.[index] ?? {}
      const hash = createHash('sha256')
        .update(Buffer.from(tx, 'base64'))
        .digest('hex')
        .toUpperCase()
      const attributes = this.#attributesOf(result.events ?? [], {
        'tm.event': ['Tx'],
        'tx.hash': [hash],
        'tx.height': [height],
      })
      const place = index === 0 ? { height } : { height, index }
      const TxResult = { ...place, tx, result: toldAlone(result) }
      const event = writeEvent('Tx', { TxResult }, attributes)
      return { attributes, event }
    })
  }

  /** The versions that say `finalize_block_events` are beyond base64. */
  #attributesOf(events: readonly AbciEvent[], own: Attributes): Attributes {
    return attributesOf(events, own, this.#isFinalized ? 'plain' : 'unknown')
  }

  get #isFinalized(): boolean {
    return this.#results.finalize_block_events !== undefined
  }

  get #events(): readonly AbciEvent[] {
    const { finalize_block_events, begin_block_events, end_block_events } = this.#results
    return [
      ...(finalize_block_events ?? []),
      ...(begin_block_events ?? []),
      ...(end_block_events ?? []),
    ]
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

/** Where a result is told alone, a node leaves out what is empty; among a block's it does not. */
function toldAlone(result: TxResult): object {
  return filled({ ...result, events: result.events?.map(filled) })
}

/** Numbers of 64 bits are texts. */
function filled(value: object): object {
  const isEmpty = (name: string, each: unknown) =>
    [undefined, null, 0, ''].includes(each as null) ||
    (Array.isArray(each) && each.length === 0) ||
    (name.startsWith('gas_') && each === '0')
  return Object.fromEntries(Object.entries(value).filter(([name, each]) => !isEmpty(name, each)))
}
