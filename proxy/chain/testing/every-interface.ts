// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../load-catalog.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../types.ts'

/** One interface of one chain, as a listener serves it. */
export interface OfferedInterface {
  readonly chain: Chain
  readonly offered: ChainInterface
}

/**
 * Returns every interface of every chain in the sources.
 * @param sources as for `--use-static-spec`; by default the bundled specs
 */
export async function everyInterface(
  sources: readonly string[],
): Promise<readonly OfferedInterface[]> {
  return interfacesOf(await loadCatalog(sources))
}

export function interfacesOf(catalog: ChainCatalog): readonly OfferedInterface[] {
  const chains = catalog.ids.map((id) => catalog.find(id)).filter((chain) => chain !== null)
  return chains.flatMap((chain) =>
    [...chain.interfaces.values()].map((offered) => ({ chain, offered })),
  )
}
