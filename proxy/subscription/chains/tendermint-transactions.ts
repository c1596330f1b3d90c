// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { DerivedEvents, Item } from '../derived.ts'
import type { Place } from '../link.ts'
import { Shared } from '../shared.ts'
import { TendermintBlock } from './tendermint-block.ts'
import { judgeOf, type Judge } from './tendermint-condition.ts'
import { readQuery } from './tendermint-query.ts'

type Transactions = TendermintBlock['transactions']

/** All transactions of a block. They are the same for all queries, and fetched and read once for them. */
export class TransactionsOfBlocks {
  readonly #ask: Ask
  readonly #shared = new Shared<Transactions>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  of(height: number, prefer: string | null, signal: AbortSignal): Promise<Transactions> {
    return this.#shared.take(`${height} ${prefer}`, signal, async (all) => {
      const block = await TendermintBlock.fetch(this.#ask, height, prefer, all)
      return block.transactions
    })
  }
}

/** Transactions that fit a query, block by block. */
export class TendermintTransactions implements DerivedEvents {
  readonly #all: TransactionsOfBlocks
  readonly #judges: readonly Judge[]

  constructor(all: TransactionsOfBlocks, query: string) {
    this.#all = all
    this.#judges = readQuery(query).conditions.map(judgeOf)
  }

  async of(
    { number }: Place,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<readonly Item[]> {
    const transactions = await this.#all.of(number, prefer, signal)
    return transactions
      .map(({ attributes, event }, index) => ({ key: String(index), event, attributes }))
      .filter(({ attributes }) => this.#judges.every((holds) => holds(attributes)))
  }

  /** No block is replaced. */
  takeBack({ event }: Item): Uint8Array {
    return event
  }
}
