// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import type { Log } from './block-builder.ts'
import type { ChainView } from './chain-view.ts'
import { invalidParams, RpcError } from './json-rpc.ts'
import { address, block, hash } from './params.ts'

const maxRangeBlocks = 2_000

/** One value or several alternatives. An empty list matches any value. */
function anyOf<Value>(type: z.ZodType<Value>) {
  return z
    .union([type.transform((value) => [value]), z.array(type)])
    .nullish()
    .transform((values) => values ?? [])
}

const logParts = z.object({
  address: anyOf(address),
  /** Alternatives per position. */
  topics: z
    .array(anyOf(hash))
    .max(4, 'exceed max topics')
    .nullish()
    .transform((topics) => topics ?? []),
})

export const logCriteria = logParts.extend({
  fromBlock: block.nullish(),
  toBlock: block.nullish(),
  blockHash: hash.nullish(),
})

/** Addresses and topics that a log must match, as a client writes them. */
export type LogFilter = z.input<typeof logParts>

export function fitsFilter(log: Pick<Log, 'address' | 'topics'>, filter: LogFilter = {}): boolean {
  return fits(log, logParts.parse(filter))
}

/** The result of `eth_getLogs`: logs of a range or a block that match addresses and topics. */
export function logsOf(view: ChainView, criteria: z.output<typeof logCriteria>): Log[] {
  const { fromBlock, toBlock, blockHash } = criteria
  const all = ({ receipts }: { readonly receipts: readonly { readonly logs: readonly Log[] }[] }) =>
    receipts.flatMap(({ logs }) => logs).filter((log) => fits(log, criteria))
  if (blockHash) {
    if (fromBlock || toBlock) throw invalidParams('both a block hash and a range')
    const mined = view.byHash(blockHash)
    if (mined === null) throw new RpcError(-32000, 'unknown block')
    return all(mined)
  }
  const [from, to] = [fromBlock, toBlock].map((ref) => {
    if (!ref) return view.head
    return 'height' in ref ? ref.height : (view.heightOf(ref) ?? view.head)
  }) as [number, number]
  if (from > to) throw invalidParams('invalid block range params')
  if (to > view.head) throw invalidParams('block range extends beyond current head block')
  if (to - from >= maxRangeBlocks)
    throw invalidParams(`exceed maximum block range: ${maxRangeBlocks}`)
  return Array.from({ length: to - from + 1 }, (_, at) => all(view.at(from + at))).flat()
}

function fits(log: Pick<Log, 'address' | 'topics'>, filter: z.output<typeof logParts>): boolean {
  if (filter.address.length > 0 && !filter.address.includes(log.address)) return false
  return filter.topics.every((alternatives, at) => {
    const topic = log.topics[at]
    return topic !== undefined && (alternatives.length === 0 || alternatives.includes(topic))
  })
}
