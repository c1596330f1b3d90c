// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Ask } from '../ask.ts'
import type { DerivedEvents, Item } from '../derived.ts'
import { readQuery, type QueryCondition } from '../forms/tendermint-query.ts'
import type { Place } from '../link.ts'
import { TendermintBlock } from './tendermint-block.ts'
import type { Attributes } from './tendermint-event.ts'

/** Transactions that fit a query, block by block. */
export class TendermintTransactions implements DerivedEvents {
  readonly #ask: Ask
  readonly #conditions: readonly QueryCondition[]

  constructor(ask: Ask, query: string) {
    this.#ask = ask
    this.#conditions = readQuery(query) ?? []
  }

  async of(
    { number }: Place,
    prefer: string | null,
    signal: AbortSignal,
  ): Promise<readonly Item[]> {
    const block = await TendermintBlock.fetch(this.#ask, number, prefer, signal)
    return block.transactions
      .map(({ attributes, event }, index) => ({ key: String(index), event, attributes }))
      .filter(({ attributes }) => this.#conditions.every((each) => holds(each, attributes)))
  }

  /** No block is replaced. */
  takeBack({ event }: Item): Uint8Array {
    return event
  }
}

/** As a node judges: any value of the attribute will do. */
export function holds({ key, operator, value }: QueryCondition, attributes: Attributes): boolean {
  const values = attributes[key]
  if (!values) return false
  if (operator === 'EXISTS') return true
  const isText = value.startsWith("'")
  const wanted = isText ? value.slice(1, -1) : value
  if (operator === 'CONTAINS') return values.some((each) => each.includes(wanted))
  if (isText) return operator === '=' && values.includes(wanted)
  return values.some((each) => compares(numberIn(each), operator, Number(wanted)))
}

/** A number may stand within a text, as in `5uatom`. */
function numberIn(text: string): number {
  return Number(/-?[0-9.]+/.exec(text)?.[0] ?? NaN)
}

function compares(value: number, operator: string, wanted: number): boolean {
  switch (operator) {
    case '=':
      return value === wanted
    case '<':
      return value < wanted
    case '<=':
      return value <= wanted
    case '>':
      return value > wanted
    case '>=':
      return value >= wanted
    default:
      return false
  }
}
