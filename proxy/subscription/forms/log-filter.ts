// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { memberOf } from '../ask.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import { toBlockNumber } from '../../upstream/block-number.ts'

/** The filter of `eth_subscribe` for logs, in the one form of all that mean the same. */
export interface LogCriteria {
  /** Lower case, in order, each once; absent: any. */
  readonly address?: readonly string[]
  /** A place for each topic that a log must have; null: any, else one of these. Absent: any. */
  readonly topics?: readonly (readonly string[] | null)[]
  /** Logs of earlier blocks are left out. */
  readonly fromBlock?: number
  /** Logs of later blocks are left out. */
  readonly toBlock?: number
}

const mostTopics = 4
const address = /^0x[0-9a-f]{40}$/i
const word = /^0x[0-9a-f]{64}$/i
const quantity = /^0x(?:0|[1-9a-f][0-9a-f]{0,12})$/i

/**
 * Reads a filter as nodes do: an address or a list of them; topics by place, each one, any of a
 * list, or null for any. A list that is empty or holds null restricts nothing. A place at the end
 * without a wish still asks for a topic to be there, and stays. A range bounds which of the blocks to
 * come are told of: go-ethereum's client always sends one, from 0x0.
 * @throws RelayError when no node would take it
 */
export function readLogFilter(filter: unknown): LogCriteria {
  if (filter === undefined || filter === null) return {}
  if (typeof filter !== 'object' || Array.isArray(filter))
    throw invalid('the filter must be an object')
  const members = filter as Readonly<Record<string, unknown>>
  if ((members['blockHash'] ?? null) !== null)
    throw invalid('a subscription has no "blockHash"; leave it out')
  const addresses = alternatives(members['address'], address, 'an address is 20 bytes in hex')
  const topics = readTopics(members['topics'])
  return {
    ...(addresses ? { address: addresses } : {}),
    ...(topics.length > 0 ? { topics } : {}),
    ...readRange(members),
  }
}

function readRange(members: Readonly<Record<string, unknown>>) {
  const [fromBlock, toBlock] = [blockOf(members, 'fromBlock'), blockOf(members, 'toBlock')]
  if (toBlock === null) return fromBlock === null || fromBlock === 0 ? {} : { fromBlock }
  if (fromBlock === null || fromBlock > toBlock)
    throw invalid('"toBlock" needs a "fromBlock" that is not above it')
  return { fromBlock, toBlock }
}

/** Null where the end of the range is open. */
function blockOf(
  members: Readonly<Record<string, unknown>>,
  name: 'fromBlock' | 'toBlock',
): number | null {
  const value = members[name] ?? 'latest'
  if (value === 'latest') return null
  if (typeof value !== 'string' || !quantity.test(value))
    throw invalid(`"${name}" must be a block number in hex, or "latest"`)
  return Number(value)
}

function readTopics(topics: unknown): readonly (readonly string[] | null)[] {
  if (topics === undefined || topics === null) return []
  if (!Array.isArray(topics)) throw invalid('"topics" must be a list')
  if (topics.length > mostTopics) throw invalid(`a log has at most ${mostTopics} topics`)
  return topics.map((place) => alternatives(place, word, 'a topic is 32 bytes in hex'))
}

function alternatives(value: unknown, form: RegExp, why: string): readonly string[] | null {
  if (value === undefined || value === null) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.includes(null)) return null
  const words = list.map((each) => {
    if (typeof each !== 'string' || !form.test(each)) throw invalid(why)
    return each.toLowerCase()
  })
  return [...new Set(words)].toSorted()
}

/**
 * As it is sent to a node, and without a range: what is one of one is written plainly, which every
 * node understands.
 */
export function writeLogFilter({ address: addresses, topics }: LogCriteria): object {
  const plain = (list: readonly string[] | null) => (list?.length === 1 ? list[0] : list)
  return {
    ...(addresses ? { address: plain(addresses) } : {}),
    ...(topics ? { topics: topics.map(plain) } : {}),
  }
}

/** Whether a log lies in the range of a filter; null where the filter has none. */
export function takesOfRange({
  fromBlock = 0,
  toBlock = Infinity,
}: LogCriteria): ((log: Uint8Array) => boolean) | null {
  if (fromBlock === 0 && toBlock === Infinity) return null
  return (log) => {
    const text = Buffer.from(memberOf(log, '"blockNumber"') ?? []).toString('latin1')
    const number = toBlockNumber(text.slice(1, -1), 'hex')
    return number === null || (fromBlock <= number && number <= toBlock)
  }
}

function invalid(why: string): RelayError {
  return new RelayError(errorKinds.invalidParams, `eth_subscribe: ${why}`)
}
