// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef } from '../chain/types.ts'
import { mismatch } from './identity.ts'
import { shown, toHash, toNumber } from './values.ts'
import type { CheckName, Violation } from './violation.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a filter asks for, ready to be compared. Null: that is open, or in a form that is not known. */
interface Filter {
  readonly from: number
  readonly to: number
  readonly blockHash: string | null
  readonly addresses: ReadonlySet<string> | null
  /** By position; null: any topic may stand there. */
  readonly topics: readonly (ReadonlySet<string> | null)[]
}

/**
 * Each log is inside the filter: its block, its address, its topics. Whether logs are missing, and
 * how a chain numbers them, cannot be known.
 */
export function checkLogs(result: unknown, filter: unknown, asked: BlockRef): Violation | null {
  if (!Array.isArray(result) || !isObject(filter)) return null
  const wanted = readFilter(filter, asked)
  for (const [index, log] of result.entries()) {
    const found = isObject(log) ? checkLog(log, wanted) : null
    if (found) return { ...found, detail: `log ${index}: ${found.detail}` }
  }
  return null
}

function readFilter(filter: Fields, asked: BlockRef): Filter {
  const isRange = asked.kind === 'range'
  const addresses = filter['address'] ?? []
  const topics = filter['topics']
  return {
    from: isRange ? heightOf(asked.from, -Infinity) : -Infinity,
    to: isRange ? heightOf(asked.to, Infinity) : Infinity,
    blockHash: asked.kind === 'hash' ? toHash(asked.hash) : null,
    addresses: setOf(Array.isArray(addresses) ? addresses : [addresses], toAddress),
    topics: Array.isArray(topics)
      ? topics.map((topic: unknown) => setOf(Array.isArray(topic) ? topic : [topic], toHash))
      : [],
  }
}

/** What a tag stands for is the node's to say. */
function heightOf(point: BlockPoint, open: number): number {
  return point.kind === 'number' ? point.number : open
}

/** Null for nothing, which stands for everything, and where one of the values is in another form. */
function setOf(
  values: readonly unknown[],
  normal: (value: unknown) => string | null,
): ReadonlySet<string> | null {
  const set = new Set<string>()
  for (const value of values) {
    const own = normal(value)
    if (own === null) return null
    set.add(own)
  }
  return set.size === 0 ? null : set
}

/** The last 20 bytes: some chains have a prefix of their own before them. */
function toAddress(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return /^(?:0x|xdc|41|0x41)?([0-9a-f]{40})$/i.exec(value)?.[1]?.toLowerCase() ?? null
}

function checkLog(log: Fields, filter: Filter): Violation | null {
  const { from, to, blockHash, addresses, topics } = filter
  const number = toNumber(log['blockNumber'])
  if (number !== null && (number < from || number > to))
    return outside('logs-range', log['blockNumber'])
  const hash = blockHash === null ? null : toHash(log['blockHash'])
  if (hash !== null && hash !== blockHash) return mismatch('logs-block', blockHash, hash)
  const address = addresses && toAddress(log['address'])
  if (address && !addresses.has(address)) return outside('logs-address', log['address'])
  const own = log['topics']
  if (!Array.isArray(own)) return null
  for (const [index, any] of topics.entries()) {
    const topic = toHash(own[index])
    if (any && (topic === null ? own.length <= index : !any.has(topic)))
      return outside('logs-topics', own[index])
  }
  return null
}

function outside(check: CheckName, got: unknown): Violation {
  return { check, detail: `${shown(got)} is outside the filter` }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
