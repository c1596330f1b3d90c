// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { ethereumForm } from './ethereum/form.ts'
import { subscriptionFormOf } from './form-of.ts'
import { solanaForm } from './solana/form.ts'
import { tendermintForm } from './tendermint/form.ts'

test.each<[string, Chain['family'], ChainInterface['apiInterface'], string[], object | null]>([
  ['of Ethereum', 'evm', 'jsonrpc', ['eth_call', 'eth_subscribe'], ethereumForm],
  ['of Solana', 'solana', 'jsonrpc', ['getSlot', 'slotSubscribe'], solanaForm],
  ['of Tendermint', 'cosmos', 'tendermintrpc', ['status', 'subscribe'], tendermintForm],
  ['none over REST', 'cosmos', 'rest', ['/cosmos/tx/v1beta1/txs'], null],
  ['none where there are no subscriptions', 'evm', 'jsonrpc', ['eth_call'], null],
  ['none for topics of another family', 'evm', 'jsonrpc', ['chain_subscribeNewHeads'], null],
  ['none where the only topic is unknown', 'solana', 'jsonrpc', ['moonSubscribe'], null],
])('%s', (_name, family, apiInterface, methods, form) => {
  expect(subscriptionFormOf({ family }, { apiInterface, methods: new Set(methods) })).toBe(form)
})
