// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'

const mostTopics = 4
const address = /^0x[0-9a-f]{40}$/i
const word = /^0x[0-9a-f]{64}$/i

/**
 * Reads a filter as nodes do: an address or a list of them; topics by position, each one, any of a
 * list, or null for any. A list that is empty or holds null restricts nothing. A position at
 * the end without a wish still asks for a topic to be there, and stays.
 * @returns one form for all filters that mean the same: lower case, in order, each once
 * @throws RelayError when no node would take it
 */
export function readLogFilter(filter: unknown): object {
  if (filter === undefined || filter === null) return {}
  if (typeof filter !== 'object' || Array.isArray(filter))
    throw invalid('the filter must be an object')
  const { blockHash, address: given, topics } = filter as Readonly<Record<string, unknown>>
  if ((blockHash ?? null) !== null) throw invalid('a subscription has no "blockHash"; leave it out')
  const addresses = alternatives(given, address, 'an address is 20 bytes in hex')
  const positions = readTopics(topics)
  return {
    ...(addresses !== null && { address: addresses }),
    ...(positions.length > 0 && { topics: positions }),
  }
}

/** Whether the filter has a range of blocks. go-ethereum's client always sends one: all from 0x0. */
export function hasRange(filter: unknown): boolean {
  const { fromBlock, toBlock } = (filter ?? {}) as Readonly<Record<string, unknown>>
  const isOpen = (value: unknown) => value === undefined || value === null || value === 'latest'
  return !isOpen(toBlock) || !(isOpen(fromBlock) || fromBlock === '0x0')
}

function readTopics(topics: unknown): readonly unknown[] {
  if (topics === undefined || topics === null) return []
  if (!Array.isArray(topics)) throw invalid('"topics" must be a list')
  if (topics.length > mostTopics) throw invalid(`a log has at most ${mostTopics} topics`)
  return topics.map((each) => alternatives(each, word, 'a topic is 32 bytes in hex'))
}

/** Null: any. One alone is written plainly, which every node understands. */
function alternatives(value: unknown, form: RegExp, why: string): string | string[] | null {
  if (value === undefined || value === null) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.includes(null)) return null
  const words = list.map((each) => {
    if (typeof each !== 'string' || !form.test(each)) throw invalid(why)
    return each.toLowerCase()
  })
  const [first = '', ...others] = [...new Set(words)].toSorted()
  return others.length === 0 ? first : [first, ...others]
}

function invalid(why: string): RelayError {
  return new RelayError(errorKinds.invalidParams, `eth_subscribe: ${why}`)
}
