// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { NodeView } from '../node-view.ts'
import type { RpcParams } from '../rpc-node.ts'
import { isAddress } from './base58.ts'
import type { SlotChain } from './chain.ts'

export type SlotView = NodeView<SlotChain>
export type SlotMethod = (view: SlotView, params: RpcParams) => unknown

const confirmedBehind = 1
const finalizedBehind = 32

/** The settings at a place of the params; empty where there are none. */
export function settingsAt(params: RpcParams, at: number): Readonly<Record<string, unknown>> {
  const value = params[at]
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalidParams(`invalid type: ${typeof value}, expected a map.`)
}

/** The slot that a commitment means on this node. */
export function slotAt(view: SlotView, params: RpcParams, at: number): number {
  const { commitment = 'finalized', minContextSlot = 0 } = settingsAt(params, at)
  const behind = { processed: 0, confirmed: confirmedBehind, finalized: finalizedBehind }
  if (!Object.hasOwn(behind, String(commitment)))
    throw invalidParams(`unknown variant \`${String(commitment)}\`.`)
  const slot = view.head - behind[commitment as keyof typeof behind]
  const context = view.chain.filled(Math.max(0, view.answered(slot)))
  if (context < Number(minContextSlot))
    throw new RpcError(-32016, 'Minimum context slot has not been reached', {
      contextSlot: context,
    })
  return context
}

/** A value with the slot at which it is so. */
export function inContext(slot: number, value: unknown) {
  return { context: { apiVersion: '3.0.0', slot }, value }
}

export function addressAt(params: RpcParams, at: number): string {
  const value = params[at]
  if (!isAddress(value)) throw invalidParams('Invalid param: Invalid')
  return value
}

export function slotParam(params: RpcParams, at: number): number {
  const value = params[at]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalidParams('invalid type: expected u64.')
}

export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}
