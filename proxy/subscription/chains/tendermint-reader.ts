// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import type { Ask } from '../ask.ts'
import { GapTooLarge } from '../failures.ts'
import { forEachAtOnce } from '../for-each-at-once.ts'
import type { Begin, ChainReader, Latest, Link, Path, Walk } from '../link.ts'
import { askFor, jsonOf } from './own-value.ts'
import { behindQuery, TendermintBlock } from './tendermint-block.ts'

/** Blocks that are asked for at the same time. */
const atOnce = 4

interface Header {
  readonly height?: string
}

interface PushedEvent {
  readonly data?: {
    readonly value?: { readonly block?: { readonly header?: Header }; readonly header?: Header }
  }
}

interface Status {
  readonly sync_info: { readonly latest_block_height: string }
}

/** Blocks of Tendermint: one at each height, none left out, none ever replaced. */
export class TendermintReader implements ChainReader {
  readonly forks = false
  readonly #ask: Ask
  readonly #eventOf: (block: TendermintBlock) => Uint8Array

  constructor(ask: Ask, eventOf: (block: TendermintBlock) => Uint8Array) {
    this.#ask = ask
    this.#eventOf = eventOf
  }

  read(event: Uint8Array): Link | null {
    const pushed = JSON.parse(bufferOf(event).toString()) as PushedEvent | null
    const { header, block } = pushed?.data?.value ?? {}
    const height = Number((header ?? block?.header)?.height ?? NaN)
    return Number.isSafeInteger(height) ? linkOf(height, behindQuery(event)) : null
  }

  async latest(prefer: string | null, signal: AbortSignal): Promise<Latest> {
    const question = { method: 'status', params: {}, prefer, signal }
    const { value, upstream } = await askFor(this.#ask, question, jsonOf(isStatus))
    const height = Number(value.sync_info.latest_block_height)
    return { link: { ...linkOf(height, Buffer.alloc(0)), parent: null }, upstream }
  }

  async begin(prefer: string | null, signal: AbortSignal): Promise<Begin> {
    const { link, upstream } = await this.latest(prefer, signal)
    return { place: link, upstream }
  }

  async pathTo(link: Link, { told, most, prefer, signal }: Walk): Promise<Path> {
    const { tip } = told
    if (tip === null) return { fork: null, between: [], link }
    const missing = link.number - tip.number - 1
    if (missing > most) throw new GapTooLarge(`more than ${most} blocks were missed`)
    const count = link.parent === null ? missing + 1 : missing
    const links = Array.from({ length: count }, (_, at) => linkOf(tip.number + 1 + at, link.event))
    await forEachAtOnce([...links.keys()], atOnce, async (at) => {
      const { number } = links[at] as Link
      const block = await TendermintBlock.fetch(this.#ask, number, prefer, signal)
      links[at] = linkOf(number, this.#eventOf(block))
    })
    const own = link.parent === null ? links.pop() : link
    return { fork: tip, between: links, link: own ?? link }
  }
}

function linkOf(height: number, event: Uint8Array): Link {
  return { number: height, id: String(height), parent: String(height - 1), event }
}

function isStatus(value: unknown): value is Status {
  const { sync_info } = (value ?? {}) as Partial<Status>
  return /^\d{1,15}$/.test(String(sync_info?.latest_block_height))
}
