// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import type { Hex } from './hex.ts'
import { blockRefOf, hexOf } from './params.ts'
import { invalidParams, RpcError } from './rpc-error.ts'
import type { Log } from './shapes.ts'

const maxTopics = 4

interface Filter {
  /** Empty: any. */
  readonly addresses: readonly Hex[]
  /** One set of alternatives a position; empty: any. */
  readonly topics: readonly (readonly Hex[])[]
}

/** The part of a filter that says what a log must be like. */
export interface LogFilter {
  readonly address?: unknown
  readonly topics?: unknown
}

/** Whether a log is what a filter asks for. @throws RpcError for a filter that is none */
export function fitsFilter(log: Pick<Log, 'address' | 'topics'>, criteria?: LogFilter): boolean {
  return fits(log, {
    addresses: addressesOf(criteria?.address),
    topics: topicsOf(criteria?.topics),
  })
}

/** `eth_getLogs`: the logs of a range or of one block that fit addresses and topics. */
export function logsOf(view: ChainView, criteria: Readonly<Record<string, unknown>>): Log[] {
  const filter = {
    addresses: addressesOf(criteria['address']),
    topics: topicsOf(criteria['topics']),
  }
  const { fromBlock, toBlock, blockHash } = criteria
  if (isSet(blockHash)) {
    if (isSet(fromBlock) || isSet(toBlock))
      throw invalidParams(
        'invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
      )
    const mined = view.mined({ hash: hexOf(blockHash, 32, 0, 'common.Hash') })
    if (mined === null) throw new RpcError(-32000, 'unknown block')
    return mined.receipts.flatMap((receipt) => receipt.logs).filter((log) => fits(log, filter))
  }
  const from = rangeEnd(view, fromBlock)
  const to = rangeEnd(view, toBlock)
  if (from > to) throw invalidParams('invalid block range params')
  if (to > view.head) throw invalidParams('block range extends beyond current head block')
  if (to - from >= view.settings.maxLogRangeBlocks)
    throw new RpcError(-32602, `exceed maximum block range: ${view.settings.maxLogRangeBlocks}`)
  const logs: Log[] = []
  for (let height = from; height <= to; height++)
    for (const receipt of view.at(height).receipts)
      logs.push(...receipt.logs.filter((log) => fits(log, filter)))
  return logs
}

function fits(log: Pick<Log, 'address' | 'topics'>, filter: Filter): boolean {
  if (filter.addresses.length > 0 && !filter.addresses.includes(log.address)) return false
  return filter.topics.every((alternatives, at) => {
    const topic = log.topics[at]
    return topic !== undefined && (alternatives.length === 0 || alternatives.includes(topic))
  })
}

function rangeEnd(view: ChainView, value: unknown): number {
  if (!isSet(value)) return view.head
  const ref = blockRefOf(value, 0, false)
  return 'height' in ref ? ref.height : (view.heightOf(ref) ?? view.head)
}

function addressesOf(value: unknown): Hex[] {
  if (!isSet(value)) return []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((one) => hexOf(one, 20, 0, 'common.Address'))
}

function topicsOf(value: unknown): Hex[][] {
  if (!isSet(value)) return []
  if (!Array.isArray(value)) throw invalidParams('invalid argument 0: invalid topics')
  if (value.length > maxTopics) throw invalidParams('exceed max topics')
  return value.map((position: unknown) => {
    if (!isSet(position)) return []
    const list: unknown[] = Array.isArray(position) ? position : [position]
    if (list.some((one) => !isSet(one))) return []
    return list.map((one) => hexOf(one, 32, 0, 'common.Hash'))
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
