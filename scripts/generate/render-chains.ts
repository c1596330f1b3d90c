// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { format } from 'prettier'
import type { ChainRow } from '../../operator/translate/spec-sources.ts'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { subscriptionFormOf } from '../../proxy/subscription/families/family-of.ts'

const path = 'operator/translate/bundled-chains.generated.ts'

/** The operator's table of the bundled specs, which it does not ship: chains, interfaces, add-ons, verifications. */
export async function renderChains(): Promise<{ path: string; text: string }> {
  const catalog = await loadCatalog([])
  const rows = catalog.ids.toSorted().flatMap((id): readonly ChainRow[] => {
    const chain = catalog.find(id)
    if (chain === null) return []
    return [...chain.interfaces.values()].map((offered) => [
      id,
      chain.aliases,
      offered.apiInterface,
      [...offered.addons],
      [...offered.verificationNames],
      subscriptionFormOf(chain, offered) !== null,
    ])
  })
  const source = `// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
// Generated from specs/ by make generate; do not edit.
import type { ChainRow } from './spec-sources.ts'

export const bundledChains: readonly ChainRow[] = ${JSON.stringify(rows)}
`
  const options = { parser: 'typescript', semi: false, singleQuote: true, printWidth: 100 } as const
  return { path, text: await format(source, options) }
}
