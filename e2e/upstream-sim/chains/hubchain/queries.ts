// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { denom } from './chain.ts'
import { encode, textOf } from './protobuf.ts'
import { gas, type HubView } from './shapes.ts'

type Query = (view: HubView, request: Buffer, height: number) => Buffer

const coin = (amount: bigint) => encode({ 1: denom, 2: String(amount) })

/** Queries of the SDK's modules by their gRPC names: request and answer in protobuf. */
const queries: ReadonlyMap<string, Query> = new Map<string, Query>([
  [
    'bank.v1beta1.Query/Balance',
    ({ chain }, request, height) =>
      encode({ 1: coin(chain.balance(textOf(request, 1), textOf(request, 2), height)) }),
  ],
  [
    'bank.v1beta1.Query/AllBalances',
    ({ chain }, request, height) =>
      encode({ 1: [coin(chain.balance(textOf(request, 1), denom, height))], 2: encode({ 2: 1 }) }),
  ],
  [
    'bank.v1beta1.Query/TotalSupply',
    ({ chain }, _request, height) =>
      encode({ 1: [coin(chain.supply(height))], 2: encode({ 2: 1 }) }),
  ],
  [
    'auth.v1beta1.Query/Account',
    ({ chain }, request, height) => {
      const address = textOf(request, 1)
      const account = {
        1: address,
        3: chain.accountNumber(address),
        4: chain.sequence(address, height),
      }
      return encode({ 1: encode({ 1: '/cosmos.auth.v1beta1.BaseAccount', 2: encode(account) }) })
    },
  ],
  [
    'tx.v1beta1.Service/Simulate',
    () => encode({ 1: encode({ 1: Number(gas.wanted), 2: Number(gas.used) }), 2: encode({}) }),
  ],
])

/** The query of a path, by whichever name of its package; null for one that is not simulated. */
export function queryOf(path: string): Query | null {
  return queries.get(path.replace(/^\/(?:cosmos|sdk)\./, '')) ?? null
}
