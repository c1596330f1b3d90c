// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { RpcParams } from '../rpc-node.ts'
import type { SlotBlock } from './chain.ts'
import { settingsAt, slotAt, slotParam, type SlotMethod, type SlotView } from './params.ts'
import { metaOf, written } from './written.ts'

/** What a node says of slots and blocks. */
export const blockMethods: Readonly<Record<string, SlotMethod>> = {
  getSlot: (view, params) => slotAt(view, params, 0),
  getBlockHeight: (view, params) => view.chain.heightAt(slotAt(view, params, 0)),
  getTransactionCount: (view, params) => 2 * view.chain.heightAt(slotAt(view, params, 0)),
  getBlock,
  getBlockTime: (view, params) => blockAt(view, slotParam(params, 0)).blockTime,
  getBlocks: (view, params) => {
    const last = typeof params[1] === 'number' ? params[1] : slotAt(view, params, 2)
    return filledSlots(view, slotParam(params, 0), Math.min(last, slotAt(view, params, 2)))
  },
  getBlocksWithLimit: (view, params) =>
    filledSlots(view, slotParam(params, 0), slotAt(view, params, 2)).slice(0, slotParam(params, 1)),
  getFirstAvailableBlock: (view) => view.settings.earliestBlock,
  minimumLedgerSlot: (view) => view.settings.earliestBlock,
  getEpochInfo: (view, params) => {
    const absoluteSlot = slotAt(view, params, 0)
    return {
      absoluteSlot,
      blockHeight: view.chain.heightAt(absoluteSlot),
      epoch: Math.floor(absoluteSlot / slotsPerEpoch),
      slotIndex: absoluteSlot % slotsPerEpoch,
      slotsInEpoch: slotsPerEpoch,
      transactionCount: 2 * absoluteSlot,
    }
  },
  getEpochSchedule: () => ({
    slotsPerEpoch,
    leaderScheduleSlotOffset: slotsPerEpoch,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
  }),
}

const slotsPerEpoch = 432_000
const longestRange = 500_000

function blockAt(view: SlotView, slot: number): SlotBlock {
  if (slot > view.head) throw new RpcError(-32004, `Block not available for slot ${slot}`)
  if (slot < view.settings.earliestBlock)
    throw new RpcError(
      -32001,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${view.settings.earliestBlock}`,
    )
  const block = view.chain.block(view.answered(slot))
  if (block) return block
  throw new RpcError(
    -32007,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  )
}

function getBlock(view: SlotView, params: RpcParams): unknown {
  const settings = settingsAt(params, 1)
  const { transactionDetails = 'full', rewards = true } = settings
  const { slot, transactions, ...block } = blockAt(view, slotParam(params, 0))
  return {
    ...block,
    ...(transactionDetails === 'signatures'
      ? { signatures: transactions.map(({ signature }) => signature) }
      : {}),
    ...(transactionDetails === 'full' || transactionDetails === 'accounts'
      ? {
          transactions: transactions.map((transaction) => ({
            ...written(transaction, settings),
            meta: metaOf(view, transaction, slot),
          })),
        }
      : {}),
    ...(rewards === false ? {} : { rewards: [] }),
  }
}

function filledSlots(view: SlotView, first: number, last: number): number[] {
  if (last - first > longestRange)
    throw new RpcError(-32602, `Slot range too large; max ${longestRange}`)
  const count = Math.max(0, last - first + 1)
  return Array.from({ length: count }, (_, at) => first + at).filter(
    (slot) => !view.chain.isSkipped(slot),
  )
}
