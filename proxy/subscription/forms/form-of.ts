// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../../chain/types.ts'
import type { SubscriptionForm } from './form.ts'
import { ethereumForm } from './ethereum.ts'
import { solanaForm } from './solana.ts'
import { tendermintForm } from './tendermint.ts'

/** The form that a chain speaks through an interface; null where it has nothing to subscribe to that the router knows. */
export function subscriptionFormOf(
  chain: Pick<Chain, 'family'>,
  iface: Pick<ChainInterface, 'apiInterface' | 'methods'>,
): SubscriptionForm | null {
  const form = usualForm(chain, iface)
  return form && [...iface.methods].some((method) => form.opens(method)) ? form : null
}

function usualForm(
  { family }: Pick<Chain, 'family'>,
  { apiInterface }: Pick<ChainInterface, 'apiInterface'>,
): SubscriptionForm | null {
  if (apiInterface === 'tendermintrpc') return tendermintForm
  if (apiInterface !== 'jsonrpc') return null
  return family === 'solana' ? solanaForm : ethereumForm
}
