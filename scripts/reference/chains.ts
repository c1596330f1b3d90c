// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { Chain } from '../../proxy/chain/types.ts'
import { fillIn } from '../generate/fill-in.ts'
import { chainPage } from './chains/chain-page.ts'
import { methodRows } from './chains/method-table.ts'
import { tableRow, words } from './chains/table.ts'

/** `docs/reference/chains.md`: the chains of the bundled specs. */
export function render(): string {
  const chains = bundledChains()
  return fillIn('docs/reference/chains.md', {
    chains: [
      '| chain-id | also | name | interfaces | block time | allowed lag | final | identified by |',
      '|---|---|---|---|---|---|---|---|',
      ...chains.map((chain) => chainRow(chain, pageOwner(chain))),
    ],
  })
}

/** `docs/reference/chains/*.md`: a page for each chain with distinct methods. */
export async function renderMore(): Promise<ReadonlyMap<string, string>> {
  const chains = bundledChains()
  const ownerOf = new Map(chains.map((chain) => [chain, pageOwner(chain)]))
  return new Map(
    [...new Set(ownerOf.values())].map((owner) => {
      const kin = chains.filter((chain) => chain !== owner && ownerOf.get(chain) === owner)
      const base = baseOf(owner)
      return [
        `chains/${owner.id.toLowerCase()}`,
        chainPage(owner, kin, base === null ? null : pageOwner(base)),
      ]
    }),
  )
}

const catalog = await loadCatalog([])

function bundledChains(): readonly Chain[] {
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

/** Ids of the chains that bundled specs extend, by id. */
const baseIds = new Map(
  readdirSync('specs')
    .filter((file) => file.endsWith('.yml'))
    .map((file) => {
      const text = readFileSync(`specs/${file}`, 'utf8')
      return [/^id: (\S+)/m.exec(text)?.[1], /^extends: (\S+)/m.exec(text)?.[1]]
    }),
)

function baseOf(chain: Chain): Chain | null {
  return catalog.find(baseIds.get(chain.id) ?? '')
}

/** The chain whose page has the methods: the extended one, if they are the same there. */
function pageOwner(chain: Chain): Chain {
  const base = baseOf(chain)
  return base !== null && methodsOf(base) === methodsOf(chain) ? pageOwner(base) : chain
}

function methodsOf({ interfaces }: Chain): string {
  return [...interfaces]
    .map(([name, offered]) => [name, ...methodRows(offered)].join('\n'))
    .join('\n')
}
