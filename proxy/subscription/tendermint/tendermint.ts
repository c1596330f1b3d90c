// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseJson } from '../../json/scanner.ts'
import { askFor, jsonOf, type Ask } from '../ask.ts'
import { numberedBlock } from '../family.ts'
import type { Backfill, Block, ChainReader, Family, Path } from '../family.ts'
import { behindQuery, subscribeRequest } from './form.ts'
import { fetchBlock, newBlock, newBlockHeader, type TendermintBlock } from './tendermint-block.ts'

/** Blocks fetched concurrently. */
const atOnce = 4

/** The sequences of blocks and of their headers. */
export function tendermintFamily(ask: Ask): Family {
  const readers = {
    NewBlock: new Heights('NewBlock', ask, newBlock),
    NewBlockHeader: new Heights('NewBlockHeader', ask, newBlockHeader),
  }
  return { readers, head: 'NewBlockHeader' }
}

interface PushedEvent {
  readonly data?: { readonly value?: HasHeader & { readonly block?: HasHeader } }
}

interface HasHeader {
  readonly header?: { readonly height?: string }
}

interface Status {
  readonly sync_info: { readonly latest_block_height: string }
}

/** Each height has exactly one block; there are no gaps and no reorgs. */
class Heights implements ChainReader {
  readonly request: ChainReader['request']
  readonly forks = false
  readonly unit = 'blocks'
  readonly #ask: Ask
  readonly #eventOf: (block: TendermintBlock) => Uint8Array

  constructor(event: string, ask: Ask, eventOf: (block: TendermintBlock) => Uint8Array) {
    const readHead = (pushed: Uint8Array) => this.read(pushed)
    this.request = { ...subscribeRequest(`tm.event='${event}'`), readHead }
    this.#ask = ask
    this.#eventOf = eventOf
  }

  read(event: Uint8Array): Block | null {
    const pushed = parseJson(event) as PushedEvent | null | undefined
    const { header, block } = pushed?.data?.value ?? {}
    const height = Number((header ?? block?.header)?.height ?? NaN)
    return Number.isSafeInteger(height)
      ? numberedBlock(height, height - 1, behindQuery(event))
      : null
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Block> {
    const question = { method: 'status', params: {}, prefer, signal }
    const { value } = await askFor(this.#ask, question, jsonOf(isStatus))
    return numberedBlock(Number(value.sync_info.latest_block_height), null)
  }

  async pathTo(block: Block, { tip, prefer, signal }: Backfill): Promise<Path> {
    const last = block.parent === null ? block.number : block.number - 1
    const blocks: Block[] = []
    for (let first = tip.number + 1; first <= last; first += atOnce) {
      const heights = Array.from(
        { length: Math.min(atOnce, last - first + 1) },
        (_, at) => first + at,
      )
      const fetched = heights.map(async (height) => {
        const found = await fetchBlock(this.#ask, height, prefer, signal)
        return numberedBlock(height, height - 1, this.#eventOf(found))
      })
      blocks.push(...(await Promise.all(fetched)))
    }
    return { fork: tip, blocks: block.parent === null ? blocks : [...blocks, block] }
  }
}

function isStatus(value: unknown): value is Status {
  const { sync_info } = (value ?? {}) as Partial<Status>
  return /^\d{1,15}$/.test(String(sync_info?.latest_block_height))
}
