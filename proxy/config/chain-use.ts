// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { child, isList, Scalar, type Tree } from './scalar.ts'
import { apiInterfaces, type ApiInterface } from './types.ts'

/** A word of the file and where it stands. */
export interface PlacedWord {
  readonly path: string
  readonly word: string
}

/**
 * What an entry of the file wants of a chain's spec, also when something else in the file is wrong:
 * so that a file is judged by its specs along with everything else.
 */
export interface ChainUse {
  /** `endpoints[0]`, `direct-rpc[2]`, ... */
  readonly path: string
  readonly chainId: string
  /** Null when it is none that the router knows, which is told elsewhere. */
  readonly apiInterface: ApiInterface | null
  readonly addons: readonly PlacedWord[]
  readonly skippedVerifications: readonly PlacedWord[]
}

const lists = ['endpoints', 'direct-rpc', 'backup-direct-rpc'] as const

/** Every use of a chain in the file; entries whose chain cannot be read are left out. */
export function chainUsesOf(tree: Tree): readonly ChainUse[] {
  return lists.flatMap((list) =>
    itemsOf(child(tree, list)).flatMap((entry, index) => {
      const use = chainUseOf(entry, `${list}[${index}]`)
      return use === null ? [] : [use]
    }),
  )
}

function chainUseOf(entry: Tree, path: string): ChainUse | null {
  const chainId = wordOf(child(entry, 'chain-id'))
  const written = wordOf(child(entry, 'api-interface'))
  const apiInterface = apiInterfaces.find((known) => known === written) ?? null
  if (chainId === null) return null
  const urls = itemsOf(child(entry, 'node-urls'))
  const wordsOf = (key: string) =>
    urls.flatMap((url, index) => placedWords(child(url, key), `${path}.node-urls[${index}].${key}`))
  return {
    path,
    chainId,
    apiInterface,
    addons: wordsOf('addons').map(({ path: at, word }) => ({ path: at, word: word.toLowerCase() })),
    skippedVerifications: wordsOf('skip-verifications'),
  }
}

function placedWords(list: Tree | undefined, path: string): readonly PlacedWord[] {
  return itemsOf(list).flatMap((item, index) => {
    const word = wordOf(item)
    return word === null ? [] : [{ path: `${path}[${index}]`, word }]
  })
}

function itemsOf(list: Tree | undefined): readonly Tree[] {
  return isList(list) ? list : []
}

/** Placeholders are not allowed in any of these places, and what stands in one is not printed. */
function wordOf(tree: Tree | undefined): string | null {
  return tree instanceof Scalar && !tree.hasPlaceholder ? tree.reveal() : null
}
