// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../chain/types.ts'
import { ethereumForm } from './ethereum/form.ts'
import type { SubscriptionForm } from './form.ts'
import { solanaForm } from './solana/form.ts'
import { tendermintForm } from './tendermint/form.ts'

/** The subscription form of a chain on an interface; null if the router supports none. */
export function subscriptionFormOf(
  { family }: Pick<Chain, 'family'>,
  { apiInterface, methods }: Pick<ChainInterface, 'apiInterface' | 'methods'>,
): SubscriptionForm | null {
  const ofJsonRpc = family === 'solana' ? solanaForm : ethereumForm
  const form = { jsonrpc: ofJsonRpc, tendermintrpc: tendermintForm, rest: null, grpc: null }[
    apiInterface
  ]
  return form && [...methods].some((method) => form.opens(method)) ? form : null
}
