// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../../chain/types.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Ask } from '../ask.ts'
import type { ChainKit } from '../chain-kit.ts'
import { ethereumKit } from './ethereum-kit.ts'
import { solanaKit } from './solana-kit.ts'
import { tendermintKit } from './tendermint-kit.ts'

/** What can be told of a chain without a gap: by the methods that its interface has. */
export function kitOf(
  { blockTimeMs }: Pick<Chain, 'blockTimeMs'>,
  { apiInterface, methods }: Pick<ChainInterface, 'apiInterface' | 'methods'>,
  ask: Ask,
  clock: Clock,
): ChainKit {
  const has = (...names: readonly string[]) => names.every((name) => methods.has(name))
  if (apiInterface === 'tendermintrpc') return tendermintKit(ask)
  if (has('eth_subscribe', 'eth_getBlockByHash', 'eth_getBlockByNumber')) return ethereumKit(ask)
  if (has('slotSubscribe', 'getSlot', 'getBlocks')) return solanaKit({ ask, clock, blockTimeMs })
  return liveKit
}

/** Of a chain that nobody can read back: everything goes on elsewhere with what comes next. */
const liveKit: ChainKit = {
  sequenceOf: () => null,
  sequence() {
    throw new Error('a chain without sequences was asked for one')
  },
  derived: () => null,
}
