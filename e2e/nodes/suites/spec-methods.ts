// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../../proxy/chain/load-catalog.ts'
import type { ChainInterface } from '../../../proxy/chain/types.ts'
import type { ApiInterface } from '../../../proxy/config/types.ts'

/** One interface of a chain in the bundled specs. */
export async function specOf(chainId: string, through: ApiInterface): Promise<ChainInterface> {
  const catalog = await loadCatalog([])
  const spec = catalog.find(chainId)?.interfaces.get(through)
  if (!spec) throw new Error(`no spec for ${chainId} through ${through}`)
  return spec
}

/** Methods that a node answers over HTTP. The router itself answers subscriptions. */
export function answeredOverHttp(
  spec: ChainInterface,
  through: 'jsonrpc' | 'tendermintrpc',
): string[] {
  const kindOf = (method: string) =>
    spec.classify({ apiInterface: through, method, params: undefined }).kind
  return [...spec.methods].filter((method) => kindOf(method) !== 'subscribe')
}
