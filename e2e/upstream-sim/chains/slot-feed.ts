// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../json-rpc.ts'
import type { SocketFeed } from '../socket-face.ts'
import { accountJson, finalizedBehind, type SlotChain } from './slot-chain.ts'
import type { SlotTransaction } from './slot-transaction.ts'

/** Subscriptions to processed slots. As on real nodes, the WebSocket serves no other methods. */
export function slotFeed(chain: SlotChain): SocketFeed {
  let reported = chain.head
  return {
    news() {
      const slots = Array.from({ length: chain.head - reported }, (_, at) => reported + at + 1)
      reported += slots.length
      return slots
    },
    subscribe({ method, params = [] }) {
      const name = method.replace(/Subscribe$/, '')
      if (name === method || !Object.hasOwn(topics, name))
        return new RpcError(-32601, 'Method not found')
      const topic = topics[name]!(chain, params as readonly unknown[])
      return {
        notification: `${name}Notification`,
        resultsOf: (slot) => topic(slot as number),
        isOnce: name === 'signature',
      }
    },
    idOf: (number) => number,
  }
}

/** Events of a processed slot per topic, by the prefix of its `Subscribe` method. */
const topics: Readonly<
  Record<
    string,
    (chain: SlotChain, params: readonly unknown[]) => (slot: number) => readonly unknown[]
  >
> = {
  slot: (chain) => (slot) => {
    const [parent, root] = [chain.filled(slot - 1), chain.filled(slot - finalizedBehind)]
    return chain.isSkipped(slot) ? [] : [{ slot, parent, root }]
  },
  root: (chain) => (slot) => {
    const root = slot - finalizedBehind
    return chain.isSkipped(root) ? [] : [root]
  },
  account: (chain, [address]) => {
    let before = chain.balance(String(address), chain.head)
    return (slot) => {
      const value = accountJson(chain, String(address), slot)
      if (value.lamports === before) return []
      before = value.lamports
      return [{ context: { slot }, value }]
    }
  },
  logs: (chain, [filter]) => {
    const { mentions } = (filter ?? {}) as { mentions?: readonly string[] }
    const isMeant = ({ message }: SlotTransaction) =>
      mentions === undefined || message.accountKeys.includes(mentions[0] ?? '')
    const logs = ['Program 11111111111111111111111111111111 success']
    return (slot) =>
      (chain.block(slot)?.transactions ?? [])
        .filter(isMeant)
        .map(({ signature }) => ({ context: { slot }, value: { signature, err: null, logs } }))
  },
  signature:
    (chain, [signature]) =>
    (slot) => {
      const placed = chain.find(String(signature), slot)?.slot ?? null
      return placed === null || placed > slot ? [] : [{ context: { slot }, value: { err: null } }]
    },
}
