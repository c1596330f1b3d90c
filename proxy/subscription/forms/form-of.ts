// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../../chain/types.ts'
import type { SubscriptionForm } from '../form.ts'
import { ethereumForm } from './ethereum.ts'
import { solanaForm } from './solana.ts'
import { tendermintForm } from './tendermint.ts'

/** The form that a chain speaks through an interface; null where the interface knows none. */
export function subscriptionFormOf(
  { family }: Pick<Chain, 'family'>,
  { apiInterface }: Pick<ChainInterface, 'apiInterface'>,
): SubscriptionForm | null {
  if (apiInterface === 'tendermintrpc') return tendermintForm
  if (apiInterface !== 'jsonrpc') return null
  return family === 'solana' ? solanaForm : ethereumForm
}
