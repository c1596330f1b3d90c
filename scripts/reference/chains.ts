// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { Chain } from '../../proxy/chain/types.ts'
import { fillIn } from '../generate/fill-in.ts'
import { chainPage } from './chains/chain-page.ts'
import { tableRow, words } from './chains/table.ts'

/** `docs/reference/chains.md`: the chains of the bundled specs. */
export async function render(): Promise<string> {
  const chains = await bundledChains()
  return fillIn('docs/reference/chains.md', {
    chains: [
      '| chain-id | also | name | interfaces | block time | allowed lag | final | identified by |',
      '|---|---|---|---|---|---|---|---|',
      ...chains.map((chain) => chainRow(chain, twinOf(chain, chains) ?? chain)),
    ],
  })
}

/** `docs/reference/chains/*.md`: a page for each chain with distinct methods. */
export async function renderMore(): Promise<ReadonlyMap<string, string>> {
  const chains = await bundledChains()
  const own = chains.filter((chain) => twinOf(chain, chains) === null)
  return new Map(
    own.map((chain) => [
      `chains/${chain.id.toLowerCase()}`,
      chainPage(chain, kinOf(chain, chains)),
    ]),
  )
}

async function bundledChains(): Promise<readonly Chain[]> {
  const catalog = await loadCatalog([])
  return catalog.ids
    .toSorted()
    .map((id) => catalog.find(id))
    .filter((chain) => chain !== null)
}

function chainRow(chain: Chain, page: Chain): string {
  const { finality } = chain
  const identity = [...chain.interfaces.values()]
    .flatMap((offered) => offered.verifications)
    .find((each) => each.name === 'chain-id')
  return tableRow([
    `[\`${chain.id}\`](chains/${page.id.toLowerCase()}.md)`,
    words(chain.aliases),
    chain.name,
    [...chain.interfaces.keys()].join(', '),
    `${chain.blockTimeMs / 1000} s`,
    blocks(chain.allowedLagBlocks),
    typeof finality === 'string' ? `tag \`${finality}\`` : blocks(finality),
    identity?.expected ? `\`${identity.expected}\`` : '',
  ])
}

function blocks(count: number): string {
  return count === 1 ? '1 block' : `${count} blocks`
}

/** The earlier chain with the same methods, whose page lists them. */
function twinOf(chain: Chain, chains: readonly Chain[]): Chain | null {
  const methods = methodsOf(chain)
  const twin = chains.find((each) => methodsOf(each) === methods)
  return twin === undefined || twin === chain ? null : twin
}

/** The chains that share the page of this chain. */
function kinOf(chain: Chain, chains: readonly Chain[]): readonly Chain[] {
  return chains.filter((each) => twinOf(each, chains) === chain)
}

function methodsOf({ interfaces, cacheable }: Chain): string {
  return [[String(cacheable), { methods: [] }] as const, ...interfaces]
    .map(([name, { methods }]) => [name, ...methods].join())
    .join('\n')
}
