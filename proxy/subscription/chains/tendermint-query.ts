// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { badQuery, tokensOf, type Token } from './tendermint-tokens.ts'

/** What a condition compares with. A text is without its quotes, the others as written. */
export interface Operand {
  readonly type: 'text' | 'number' | 'time' | 'date'
  readonly text: string
}

/** One condition of a query, as `tx.height>=5`. */
export type QueryCondition =
  | { readonly tag: string; readonly operator: 'EXISTS'; readonly operand: null }
  | {
      readonly tag: string
      readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'CONTAINS'
      readonly operand: Operand
    }

export interface Query {
  /** In one order and each once; all of them must hold. */
  readonly conditions: readonly QueryCondition[]
  /**
   * Whether every node reads the query as the router does. What are letters beyond ASCII depends on
   * the Unicode that a node was built with, and what is no text in UTF-8 gets lost in JSON.
   */
  readonly isCertain: boolean
}

/** Bytes of a query, as CometBFT limits them. */
export const mostQueryBytes = 512

/** What each operator can compare with. */
const operands: Readonly<Record<string, readonly Token['type'][]>> = {
  '=': ['number', 'time', 'date', 'text'],
  '<': ['number', 'time', 'date'],
  '<=': ['number', 'time', 'date'],
  '>': ['number', 'time', 'date'],
  '>=': ['number', 'time', 'date'],
  CONTAINS: ['text'],
}

/**
 * Reads a query as CometBFT does from 0.38 on.
 * @throws RelayError for what it would not take
 */
export function readQuery(text: string): Query {
  const bytes = Buffer.byteLength(text)
  if (bytes > mostQueryBytes)
    throw badQuery(`it has ${bytes} bytes, and may have ${mostQueryBytes} at most`)
  const tokens = [...tokensOf(text)]
  const found = new Map<string, QueryCondition>()
  for (let at = 0; ;) {
    const one = conditionAt(tokens, at)
    found.set(writeCondition(one), one)
    at += one.operand === null ? 2 : 3
    // To a node a query is at its end where a quote is not closed, if it can be.
    if (at === tokens.length || tokens[at]?.type === 'unclosed') break
    take(tokens, at, ['and'])
    at += 1
  }
  const conditions = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  return { conditions, isCertain: conditions.every(isCertain) }
}

/** Reads the same once more; it may be longer than what was read. */
export function writeQuery(conditions: readonly QueryCondition[]): string {
  return conditions.map(writeCondition).join(' AND ')
}

function conditionAt(tokens: readonly Token[], at: number): QueryCondition {
  const tag = take(tokens, at, ['tag']).text
  const operator = take(tokens, at + 1, ['operator']).text as QueryCondition['operator']
  if (operator === 'EXISTS') return { tag, operator, operand: null }
  const { type, text } = take(tokens, at + 2, operands[operator] ?? [])
  return { tag, operator, operand: { type, text } as Operand }
}

const names: Readonly<Record<Token['type'], string>> = {
  tag: 'a name as transfer.amount',
  text: "a text in quotes as 'x'",
  number: 'a number as 5 or 1.5',
  time: 'a TIME',
  date: 'a DATE',
  operator: 'one of = < <= > >= CONTAINS EXISTS',
  and: 'AND',
  unclosed: 'nothing',
}

function take(tokens: readonly Token[], at: number, types: readonly Token['type'][]): Token {
  const token = tokens[at]
  if (token && types.includes(token.type)) return token
  if (token?.type === 'unclosed') throw badQuery(`the quote at ${token.at} is not closed`)
  const wanted = types.map((type) => names[type]).join(', ')
  const where = token ? `at ${token.at} stands ${JSON.stringify(token.text)}` : 'it ends'
  throw badQuery(`${where} where there must be ${wanted}`)
}

function writeCondition({ tag, operator, operand }: QueryCondition): string {
  const after = operand ? writeOperand(operand) : ''
  if (operator !== 'EXISTS' && operator !== 'CONTAINS') return `${tag}${operator}${after}`
  // Behind these two a space would begin a time or a date.
  const space = tag === 'TIME' || tag === 'DATE' ? '\t' : ' '
  return `${tag}${space}${operator} ${after}`.trimEnd()
}

function writeOperand({ type, text }: Operand): string {
  if (type === 'text') return `'${text}'`
  return type === 'number' ? text : `${type.toUpperCase()} ${text}`
}

function isCertain({ tag, operand }: QueryCondition): boolean {
  const isText = operand?.type !== 'text' || /^[^\ufffd\p{Cs}]*$/u.test(operand.text)
  return isText && /^[\x20-\x7e]*$/.test(tag)
}
