// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { DerivedEvents, Item } from '../derived.ts'
import { readQuery } from './tendermint-query.ts'
import type { Place } from '../link.ts'
import { TendermintBlock } from './tendermint-block.ts'
import { judgeOf, type Judge } from './tendermint-condition.ts'

/** Transactions that fit a query, block by block. */
export class TendermintTransactions implements DerivedEvents {
  readonly #ask: Ask
  readonly #judges: readonly Judge[]

  constructor(ask: Ask, query: string) {
    this.#ask = ask
    this.#judges = readQuery(query).conditions.map(judgeOf)
  }

  async of(
    { number }: Place,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<readonly Item[]> {
    const block = await TendermintBlock.fetch(this.#ask, number, prefer, signal)
    return block.transactions
      .map(({ attributes, event }, index) => ({ key: String(index), event, attributes }))
      .filter(({ attributes }) => this.#judges.every((holds) => holds(attributes)))
  }

  /** No block is replaced. */
  takeBack({ event }: Item): Uint8Array {
    return event
  }
}
