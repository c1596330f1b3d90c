// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockPoint, BlockRef } from '../chain/types.ts'
import { mismatch } from './identity.ts'
import { shown, toHash, toNumber } from '../json/values.ts'
import type { CheckName, Violation } from './violation.ts'

type Fields = Readonly<Record<string, unknown>>

/** Criteria of a filter, ready for comparison. Null if unrestricted, or in an unknown form. */
export interface LogFilter {
  readonly fields: object
  readonly from: number
  readonly to: number
  readonly blockHash: string | null
  readonly addresses: Accepted | null
  /** Criteria by topic position; null accepts any topic. */
  readonly topics: readonly (Accepted | null)[]
}

/** Values that a filter accepts. Most logs repeat a few spellings, so each is parsed once. */
class Accepted {
  readonly values = new Set<string>()
  readonly #normal: Normal
  /** Spellings known to match. */
  readonly #spellings = new Set<unknown>()

  constructor(normal: Normal) {
    this.#normal = normal
  }

  /** @returns false for a value in an unknown form */
  add(value: unknown): boolean {
    const own = this.#normal(value)
    if (own !== null) this.values.add(own)
    return own !== null
  }

  /** Null for a value in an unknown form. */
  has(value: unknown): boolean | null {
    if (this.#spellings.has(value)) return true
    const own = this.#normal(value)
    if (own === null) return null
    const isIn = this.values.has(own) || [own, ...this.values].some((each) => numbered.test(each))
    if (isIn) this.#spellings.add(value)
    return isIn
  }
}

/** On Hedera and Filecoin, a contract's number gives it a second address. Logs show either. */
const numbered = /^(?:00|ff)0{22}[0-9a-f]{16}$/

type Normal = (value: unknown) => string | null

/**
 * Checks that each log matches the filter: its block, address and topics. It cannot detect missing
 * logs, or wrong numbering.
 */
export function checkLogs(result: unknown, filter: unknown, requested: BlockRef): Violation | null {
  if (!Array.isArray(result) || !isObject(filter)) return null
  const wanted = readLogFilter(filter, requested)
  for (const [index, log] of result.entries()) {
    const found = isObject(log) ? checkLog(log, wanted) : null
    if (found) return { ...found, detail: `log ${index}: ${found.detail}` }
  }
  return null
}

export function readLogFilter(filter: object, requested: BlockRef): LogFilter {
  const isRange = requested.kind === 'range'
  const { address, topics } = filter as Fields
  const addresses = address ?? []
  return {
    fields: filter,
    from: isRange ? heightOf(requested.from, -Infinity) : -Infinity,
    to: isRange ? heightOf(requested.to, Infinity) : Infinity,
    blockHash: requested.kind === 'hash' ? toHash(requested.hash) : null,
    addresses: accepted(Array.isArray(addresses) ? addresses : [addresses], toAddress),
    topics: Array.isArray(topics)
      ? topics.map((topic: unknown) => accepted(Array.isArray(topic) ? topic : [topic], toHash))
      : [],
  }
}

/** Only the node knows the height of a tag. On Ethermint, a range to block 0 ends at block 1. */
function heightOf(point: BlockPoint, open: number): number {
  return point.kind === 'number' && point.number > 0 ? point.number : open
}

/** Null without values, which accepts everything, or if a value has an unknown form. */
function accepted(values: readonly unknown[], normal: Normal): Accepted | null {
  const all = new Accepted(normal)
  return values.length > 0 && values.every((each) => all.add(each)) ? all : null
}

/** The last 20 bytes, because some chains add a prefix. */
function toAddress(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return /^(?:0x|xdc|41|0x41)?([0-9a-f]{40})$/i.exec(value)?.[1]?.toLowerCase() ?? null
}

/** Address and topics as filters compare them; empty if one has an unknown form. */
export function logValues({ address, topics }: Fields): readonly string[] {
  const values = Array.isArray(topics) ? [toAddress(address), ...topics.map(toHash)] : []
  return values.every((each) => each !== null) ? values : []
}

function checkLog(log: Fields, filter: LogFilter): Violation | null {
  const { from, to, blockHash, addresses, topics } = filter
  if (from > -Infinity || to < Infinity) {
    const number = toNumber(log['blockNumber'])
    if (number !== null && (number < from || number > to))
      return outside('logs-range', log['blockNumber'])
  }
  const hash = blockHash === null ? null : toHash(log['blockHash'])
  if (hash !== null && hash !== blockHash) return mismatch('logs-block', blockHash, hash)
  if (addresses?.has(log['address']) === false) return outside('logs-address', log['address'])
  const own = log['topics']
  if (!Array.isArray(own)) return null
  for (const [index, any] of topics.entries()) {
    const isAbsent = any !== null && own.length <= index
    if (isAbsent || any?.has(own[index]) === false) return outside('logs-topics', own[index])
  }
  return null
}

function outside(check: CheckName, got: unknown): Violation {
  return { check, detail: `${shown(got)} is outside the filter` }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
