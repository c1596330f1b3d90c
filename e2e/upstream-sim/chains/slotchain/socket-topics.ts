// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { accountOf } from './account-methods.ts'
import type { SlotChain } from './chain.ts'
import type { SlotTransaction } from './transaction.ts'

/** What one subscription hears. */
export interface SlotTopic {
  /** What is told when a slot has been processed. */
  events(slot: number): readonly unknown[]
  /** It ends with its first event. */
  readonly isOnce: boolean
}

const finalizedBehind = 32

type MakeTopic = (chain: SlotChain, params: readonly unknown[]) => SlotTopic

const makers: Readonly<Record<string, MakeTopic>> = {
  slot: (chain) => ({
    isOnce: false,
    events: (slot) =>
      chain.isSkipped(slot)
        ? []
        : [{ slot, parent: chain.filled(slot - 1), root: chain.filled(slot - finalizedBehind) }],
  }),
  root: (chain) => ({
    isOnce: false,
    events: (slot) => (chain.isSkipped(slot - finalizedBehind) ? [] : [slot - finalizedBehind]),
  }),
  account: (chain, [address]) => {
    let before = chain.balance(String(address), chain.head)
    return {
      isOnce: false,
      events: (slot) => {
        const value = accountOf(chain, String(address), slot)
        if (value.lamports === before) return []
        before = value.lamports
        return [{ context: { slot }, value }]
      },
    }
  },
  logs: (chain, [filter]) => {
    const { mentions } = (filter ?? {}) as { mentions?: readonly string[] }
    const isMeant = ({ message }: SlotTransaction) =>
      mentions === undefined || message.accountKeys.includes(mentions[0] ?? '')
    const logs = ['Program 11111111111111111111111111111111 success']
    return {
      isOnce: false,
      events: (slot) =>
        (chain.block(slot)?.transactions ?? [])
          .filter(isMeant)
          .map(({ signature }) => ({ context: { slot }, value: { signature, err: null, logs } })),
    }
  },
  signature: (chain, [signature]) => ({
    isOnce: true,
    events: (slot) => {
      const placed = chain.find(String(signature), slot)?.slot ?? null
      return placed === null || placed > slot ? [] : [{ context: { slot }, value: { err: null } }]
    },
  }),
}

/** What can be subscribed to, by the word before `Subscribe`. */
export const slotTopics: ReadonlyMap<string, MakeTopic> = new Map(Object.entries(makers))
