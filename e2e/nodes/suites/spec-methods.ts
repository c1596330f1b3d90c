// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../../proxy/chain/load-catalog.ts'
import type { ChainInterface } from '../../../proxy/chain/types.ts'
import type { ApiInterface } from '../../../proxy/config/types.ts'

/** What the bundled spec says of one interface of a chain. */
export async function specOf(chainId: string, through: ApiInterface): Promise<ChainInterface> {
  const catalog = await loadCatalog([])
  const spec = catalog.find(chainId)?.interfaces.get(through)
  if (!spec) throw new Error(`no spec for ${chainId} through ${through}`)
  return spec
}

/** Those of its methods that a node answers over HTTP; for subscriptions the router has words of its own. */
export function answeredOverHttp(
  spec: ChainInterface,
  through: 'jsonrpc' | 'tendermintrpc',
): string[] {
  const kindOf = (method: string) =>
    spec.classify({ apiInterface: through, method, params: undefined }).kind
  return [...spec.methods].filter((method) => kindOf(method) !== 'subscribe')
}
