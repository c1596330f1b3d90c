// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ArrayCursor } from '../../json/array-cursor.ts'
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf, isNamed } from '../../json/text.ts'
import type { Ask } from '../ask.ts'
import type { DerivedEvents, Item } from '../derived.ts'
import { Unconnected } from '../failures.ts'
import type { Place } from '../link.ts'

/** Logs that fit a filter, by block. What was told is taken back when its block is replaced. */
export class EthereumLogs implements DerivedEvents {
  readonly #ask: Ask
  readonly #filter: object

  constructor(ask: Ask, filter: unknown) {
    this.#ask = ask
    this.#filter = filter ?? {}
  }

  /** By the block's hash: a node that does not have the block says so instead of "none". */
  async of({ id }: Place, prefer: string | null, signal: AbortSignal): Promise<readonly Item[]> {
    const params = [{ blockHash: id, ...this.#filter }]
    const question = { method: 'eth_getLogs', params, prefer, avoid: [], signal }
    return itemsOf((await this.#ask(question)).result, id)
  }

  takeBack({ event }: Item): Uint8Array {
    return markRemoved(event)
  }
}

function itemsOf(result: Uint8Array, block: string): readonly Item[] {
  if (result[0] !== 0x5b) throw new Unconnected(`no list of logs for block ${block}`)
  const items: Item[] = []
  const cursor = new ArrayCursor(result, 0)
  while (cursor.next())
    items.push({
      key: `${items.length}`,
      event: bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd),
    })
  return items
}

/** The log with `removed` true, in the place where it stands or as its last member. */
export function markRemoved(log: Uint8Array): Uint8Array {
  const bytes = bufferOf(log)
  const cursor = new ObjectCursor(log, 0)
  let hasMembers = false
  while (cursor.next()) {
    hasMembers = true
    if (!isNamed(log, cursor.nameStart, cursor.nameEnd, '"removed"')) continue
    const { valueStart, valueEnd } = cursor
    return Buffer.concat([bytes.subarray(0, valueStart), isTrue, bytes.subarray(valueEnd)])
  }
  const inside = bytes.subarray(0, cursor.end - 1)
  return Buffer.concat([inside, Buffer.from(hasMembers ? ',"removed":true}' : '"removed":true}')])
}

const isTrue = Buffer.from('true')
