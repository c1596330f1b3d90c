// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainUse, PlacedWord } from '../check-chains.ts'
import { upstreamUrl, type UpstreamUrl } from '../fields/upstream-url.ts'
import { apiInterfaces, type Tier } from '../types.ts'
import { child, isList, isMap, Scalar, type Tree } from '../yaml/scalar.ts'

/** An entry of a list of the file, as far as it can be understood. */
export interface Entry extends Omit<ChainUse, 'chainId'> {
  readonly chainId: string | null
  readonly tree: Tree
}

export interface UpstreamEntry extends Entry {
  readonly tier: Tier
  readonly name: string | null
  readonly urls: readonly UrlEntry[]
}

export interface UrlEntry {
  readonly path: string
  readonly tree: Tree
  readonly url: UpstreamUrl | null
}

/** The entries of a file that may have mistakes; what cannot be understood of one is null or left out. */
export interface Entries {
  readonly endpoints: readonly Entry[]
  readonly upstreams: readonly UpstreamEntry[]
}

/** What the entries want of chain specs, save for those whose chain cannot be read. */
export function chainUsesOf({ endpoints, upstreams }: Entries): readonly ChainUse[] {
  return [...endpoints, ...upstreams].flatMap((entry) =>
    entry.chainId === null ? [] : [{ ...entry, chainId: entry.chainId }],
  )
}

const urlField = upstreamUrl()

export function readEntries(file: Tree): Entries {
  return {
    endpoints: entriesOf(file, 'endpoints', ''),
    upstreams: (['primary', 'backup'] as const).flatMap((tier) =>
      entriesOf(file, tier === 'primary' ? 'direct-rpc' : 'backup-direct-rpc', '').map((entry) => ({
        ...entry,
        tier,
        name: wordOf(child(entry.tree, 'name')),
        urls: itemsOf(entry.tree, 'node-urls', `${entry.path}.`).map(([tree, path]) => ({
          tree,
          path,
          url: urlField.safeParse(child(tree, 'url')).data ?? null,
        })),
      })),
    ),
  }
}

function entriesOf(file: Tree, list: string, prefix: string): readonly Entry[] {
  return itemsOf(file, list, prefix)
    .filter(([tree]) => isMap(tree))
    .map(([tree, path]) => {
      const urls = itemsOf(tree, 'node-urls', `${path}.`)
      const wordsOf = (key: string): readonly PlacedWord[] =>
        urls.flatMap(([url, place]) =>
          itemsOf(url, key, `${place}.`).flatMap(([item, at]) => {
            const word = wordOf(item)
            return word === null ? [] : [{ path: at, word }]
          }),
        )
      const written = wordOf(child(tree, 'api-interface'))
      return {
        path,
        tree,
        chainId: wordOf(child(tree, 'chain-id')),
        apiInterface: apiInterfaces.find((known) => known === written) ?? null,
        addons: wordsOf('addons').map((each) => ({ ...each, word: each.word.toLowerCase() })),
        skippedVerifications: wordsOf('skip-verifications'),
      }
    })
}

function itemsOf(tree: Tree, key: string, prefix: string): readonly (readonly [Tree, string])[] {
  const list = child(tree, key)
  const items = list instanceof Scalar ? [list] : isList(list) ? list : []
  return items.map((item, index) => [item, `${prefix}${key}[${index}]`] as const)
}

/** Placeholders are not allowed where words are read, and what stands in one is not printed. */
function wordOf(tree: Tree | undefined): string | null {
  return tree instanceof Scalar && !tree.hasPlaceholder ? tree.reveal() : null
}
