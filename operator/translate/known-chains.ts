// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChain, KnownChains } from '../../proxy/config/check-chains.ts'
import type { ApiInterface } from '../../proxy/config/types.ts'

/** What the specs of the image say that a config can ask for: one row a chain and interface. */
export type ChainRow = readonly [
  id: string,
  aliases: readonly string[],
  apiInterface: ApiInterface,
  addons: readonly string[],
  verificationNames: readonly string[],
  subscribes: boolean,
]

/** Chains to check a config against. Ids are matched without regard to case, as the router does. */
export function knownChains(rows: readonly ChainRow[]): KnownChains {
  const chains = new Map<string, KnownChain>()
  const names = new Map<string, KnownChain>()
  for (const [id, sameRows] of Map.groupBy(rows, ([id]) => id)) {
    const interfaces = sameRows.map(([, , apiInterface, addons, verificationNames, subscribes]) => {
      const offered = {
        apiInterface,
        addons: new Set(addons),
        verificationNames: new Set(verificationNames),
        subscribes,
      }
      return [apiInterface, offered] as const
    })
    const chain = { id, interfaces: new Map(interfaces) }
    chains.set(id, chain)
    for (const name of [id, ...sameRows.flatMap(([, aliases]) => aliases)])
      names.set(name.toUpperCase(), chain)
  }
  return { ids: [...chains.keys()], find: (id) => names.get(id.toUpperCase()) ?? null }
}
