// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainKit, Sequence } from '../chain-kit.ts'
import type { SolanaAsking } from './solana-blocks.ts'
import { SolanaRoots } from './solana-roots.ts'
import { SolanaSlots } from './solana-slots.ts'

/** Slots and roots. */
export function solanaKit(asking: SolanaAsking): ChainKit {
  const slots: Sequence = {
    request: requestOf('slot'),
    reader: new SolanaSlots(asking),
    followsTip: true,
  }
  const roots: Sequence = {
    request: requestOf('root'),
    reader: new SolanaRoots(asking),
    followsTip: false,
  }
  return {
    sequenceOf: ({ kind, name }) => (kind === 'live' ? null : name),
    sequence: (name) => (name === 'slot' ? slots : roots),
    derived: () => null,
  }
}

function requestOf(name: string): Sequence['request'] {
  return {
    isNamed: true,
    method: `${name}Subscribe`,
    params: [],
    unsubscribe: (id) => ({ method: `${name}Unsubscribe`, params: [id] }),
  }
}
