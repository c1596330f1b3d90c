// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainNames } from './types.ts'

/** The name that people use, then the id: `Solana (SLOTCHAIN)`. */
export function titleOf({ id, name }: Pick<ChainNames, 'id' | 'name'>): string {
  return name === id ? id : `${name} (${id})`
}
