// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { anyEvmBase, evmIdInText, evmIdOf, nameKey } from './any-evm.ts'
import type { SpecFile } from './sources.ts'
import type { Chain, ChainCatalog } from './types.ts'

/** What the first lines of a bundled spec or failure table say about it. */
interface Head {
  readonly file: SpecFile
  readonly ids: readonly string[]
  readonly aliases: readonly string[]
  readonly name: string
  /** The chain id of an EVM chain, such as `0x1`. */
  readonly evmId: string | undefined
  readonly bases: readonly string[]
  /** The name of a failure table, or the tables of a chain. */
  readonly tables: readonly string[]
}

/**
 * A catalog of well-formed files that parses a chain on first use, with the chains that it extends
 * and its failure tables. A router uses few of the bundled chains, and parsing all would be a
 * third of its start.
 * @param loadFiles parses and resolves some of the files
 */
export function bundledCatalog(
  files: readonly SpecFile[],
  loadFiles: (some: readonly SpecFile[]) => ChainCatalog,
): ChainCatalog {
  const heads = files.map(headOf)
  const named = new Map<string, Head>()
  for (const head of heads) named.set(nameKey(head.name), head)
  for (const head of heads) for (const alias of head.aliases) named.set(alias.toLowerCase(), head)
  for (const head of heads) for (const id of head.ids) named.set(id.toLowerCase(), head)
  const lineOf = (head: Head): Head[] => [
    head,
    ...head.bases.flatMap((id) => named.get(id.toLowerCase()) ?? []).flatMap(lineOf),
  ]
  const chains = new Map<Head, Chain | null>()
  const load = (head: Head, id: string): Chain | null => {
    const line = lineOf(head)
    const tables = new Set(['common', ...line.flatMap((each) => each.tables)])
    const ofTables = heads.filter(
      (each) => each.ids.length === 0 && each.tables.some((table) => tables.has(table)),
    )
    return loadFiles([...line, ...ofTables].map(({ file }) => file)).find(id)
  }
  const others = new Map<string, Chain | null>()
  return {
    ids: heads.flatMap(({ ids }) => ids),
    names: heads.flatMap(({ ids: [id], aliases, name }) => (id ? { id, aliases, name } : [])),
    find(chainId) {
      const evmId = evmIdOf(chainId)
      const head =
        named.get(nameKey(chainId)) ?? (evmId && heads.find((each) => each.evmId === evmId))
      if (head) return chains.getOrInsertComputed(head, () => load(head, head.ids[0] ?? ''))
      const base = named.get(anyEvmBase)
      return evmId && base ? others.getOrInsertComputed(evmId, () => load(base, chainId)) : null
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
    name: /(?:^|[{,])"?name"?: ?"?([^"\n]+)/m.exec(head)?.[1] ?? '',
    evmId: evmIdInText(file.text),
    bases: valuesOf('extends'),
    tables: [...valuesOf('failures'), ...valuesOf('family')],
  }
}
