// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SpecFile } from './sources.ts'
import type { Chain, ChainCatalog } from './types.ts'

/** What the first lines of a bundled spec or failure table say about it. */
interface Head {
  readonly file: SpecFile
  readonly ids: readonly string[]
  readonly aliases: readonly string[]
  readonly bases: readonly string[]
  /** The name of a failure table, or the tables of a chain. */
  readonly tables: readonly string[]
}

/**
 * A catalog of well-formed files that parses a chain on first use, with the chains that it extends
 * and its failure tables. A router uses few of the bundled chains, and parsing all would be a
 * third of its start.
 * @param load parses and resolves some of the files
 */
export function bundledCatalog(
  files: readonly SpecFile[],
  load: (some: readonly SpecFile[]) => ChainCatalog,
): ChainCatalog {
  const heads = files.map(headOf)
  const named = new Map<string, Head>()
  for (const head of heads) for (const alias of head.aliases) named.set(alias.toLowerCase(), head)
  for (const head of heads) for (const id of head.ids) named.set(id.toLowerCase(), head)
  const lineOf = (head: Head): Head[] => [
    head,
    ...head.bases.flatMap((id) => named.get(id.toLowerCase()) ?? []).flatMap(lineOf),
  ]
  const chains = new Map<Head, Chain | null>()
  const find = (head: Head): Chain | null => {
    const line = lineOf(head)
    const tables = new Set(['common', ...line.flatMap((each) => each.tables)])
    const ofTables = heads.filter(
      (each) => each.ids.length === 0 && each.tables.some((table) => tables.has(table)),
    )
    return load([...line, ...ofTables].map(({ file }) => file)).find(head.ids[0] ?? '')
  }
  return {
    ids: heads.flatMap(({ ids }) => ids),
    find(chainId) {
      const head = named.get(chainId.toLowerCase())
      return head === undefined ? null : chains.getOrInsertComputed(head, find)
    },
  }
}

/** Reads the keys that precede the interfaces, in YAML or JSON. A test compares them all. */
function headOf(file: SpecFile): Head {
  const [head = ''] = file.text.slice(0, 4_000).split(/^interfaces:|"interfaces":|node-errors/m)
  const valuesOf = (key: string): readonly string[] => {
    const value = RegExp(`(?:^|[{,])"?${key}"?: ?(\\[[^\\]]*\\]|"?[\\w-]+)`, 'm').exec(head)?.[1]
    return value?.match(/[\w-]+/g) ?? []
  }
  return {
    file,
    ids: valuesOf('id'),
    aliases: valuesOf('aliases'),
    bases: valuesOf('extends'),
    tables: [...valuesOf('failures'), ...valuesOf('family')],
  }
}
