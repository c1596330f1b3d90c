// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Ask } from './ask.ts'
import type { Family } from './family.ts'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { solanaFamily } from './solana/solana.ts'
import { tendermintFamily } from './tendermint/tendermint.ts'

/** The sequences that the router can backfill, derived from the methods of the interface. */
export function familyOf(
  { blockTimeMs }: Pick<Chain, 'blockTimeMs'>,
  { apiInterface, methods }: Pick<ChainInterface, 'apiInterface' | 'methods'>,
  ask: Ask,
  clock: Clock,
): Family {
  const has = (...names: readonly string[]) => names.every((name) => methods.has(name))
  if (apiInterface === 'tendermintrpc') return tendermintFamily(ask)
  if (has('eth_subscribe', 'eth_getBlockByHash', 'eth_getBlockByNumber')) return ethereumFamily(ask)
  if (has('slotSubscribe', 'getSlot', 'getBlocks')) return solanaFamily({ ask, clock, blockTimeMs })
  return { readers: {}, head: null }
}
