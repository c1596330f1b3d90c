// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { readDate, readTime } from './tendermint-time.ts'

/**
 * A word of a query. A text is without its quotes, a time and a date without their word; a quote that
 * nobody closes takes all that follows.
 */
export interface Token {
  readonly type: 'tag' | 'text' | 'number' | 'time' | 'date' | 'operator' | 'and' | 'unclosed'
  readonly text: string
  /** Where it begins, in characters of the query. */
  readonly at: number
}

const space = /\p{White_Space}*/uy
const number = /[0-9]+(?:\.[0-9]*)?/uy
const word = /[_\p{L}\p{Nd}][-._\p{L}\p{Nd}]*/uy
const text = /'([^']*)'/uy
const comparison = /[<>]=?|=/uy
/** One space stands between the word and the digits, no more. */
const time = / ([-+:TZ0-9]*)/uy
const date = / ([-0-9]*)/uy

/**
 * The words of a query, as CometBFT takes them from 0.38 on (its package `libs/pubsub/query/syntax`).
 * @throws RelayError at what is no word
 */
export function* tokensOf(query: string): Generator<Token> {
  for (let at = skipSpace(query, 0); at < query.length; at = skipSpace(query, at)) {
    const [token, end] = tokenAt(query, at)
    yield token
    if (token.type === 'unclosed') return
    at = end
  }
}

export function badQuery(why: string): RelayError {
  return new RelayError(errorKinds.badQuery, `the query cannot be understood: ${why}`)
}

function tokenAt(query: string, at: number): readonly [Token, number] {
  const digits = matchAt(number, query, at)
  if (digits !== null) return [{ type: 'number', text: digits[0], at }, number.lastIndex]
  const name = matchAt(word, query, at)
  if (name !== null) return tokenOfWord(query, name[0], at)
  const sign = matchAt(comparison, query, at)
  if (sign !== null) return [{ type: 'operator', text: sign[0], at }, comparison.lastIndex]
  const quoted = matchAt(text, query, at)
  if (quoted !== null) return [{ type: 'text', text: quoted[1] as string, at }, text.lastIndex]
  if (query[at] === "'") return [{ type: 'unclosed', text: query.slice(at), at }, query.length]
  throw badQuery(
    `at ${at} nothing can begin with ${JSON.stringify(String.fromCodePoint(query.codePointAt(at) as number))}`,
  )
}

function tokenOfWord(query: string, name: string, at: number): readonly [Token, number] {
  const end = at + name.length
  switch (name) {
    case 'AND':
      return [{ type: 'and', text: name, at }, end]
    case 'EXISTS':
    case 'CONTAINS':
      return [{ type: 'operator', text: name, at }, end]
    case 'TIME':
    case 'DATE': {
      const [type, pattern, read] =
        name === 'TIME' ? (['time', time, readTime] as const) : (['date', date, readDate] as const)
      const value = matchAt(pattern, query, end)?.[1]
      if (value === undefined) break
      const year = Number(value.slice(0, 4))
      if (read(value) === null || year < 1900 || year > 2999) throw noSuchTime(name, value, at)
      return [{ type, text: value, at }, pattern.lastIndex]
    }
    default:
  }
  return [{ type: 'tag', text: name, at }, end]
}

function noSuchTime(name: 'TIME' | 'DATE', value: string, at: number): RelayError {
  const right = name === 'TIME' ? '2026-01-31T23:59:59Z' : '2026-01-31'
  return badQuery(
    `the ${name} at ${at} is ${JSON.stringify(value)}; it must be as ${name} ${right}, from 1900 to 2999`,
  )
}

function skipSpace(query: string, at: number): number {
  space.lastIndex = at
  space.test(query)
  return space.lastIndex
}

function matchAt(pattern: RegExp, query: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(query)
}
