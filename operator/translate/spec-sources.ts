// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type KnownChain, type KnownChains, anyChain } from '../../proxy/config/check-chains.ts'
import type { ApiInterface } from '../../proxy/config/types.ts'
import { readYamlText } from '../../proxy/config/yaml/read-yaml.ts'
import type { SpecSource } from '../api/rpc-router.ts'
import type { ConfigRefusal } from './translation.ts'
import type { ValueCollector } from './value-collector.ts'

/** The specs of a router's own. The router itself has the bundled ones: no config names them. */
export interface SpecsRead {
  /** The `use-static-spec` list of the config: paths in the pod, and URLs. */
  readonly section: readonly string[]
  readonly texts: readonly SpecText[]
  /** Whether these are all that pods read: none comes from a URL, and none is missing. */
  readonly areAll: boolean
}

/** Gathers the specs that a router lays over the bundled ones. */
export function readSpecSources(
  sources: readonly SpecSource[] = [],
  collector: ValueCollector,
): SpecsRead {
  const texts: SpecText[] = []
  let areAll = true
  const section = sources.flatMap((source, index) => {
    if (source.url !== undefined) {
      areAll = false
      return [source.url]
    }
    if (source.configMap === undefined) return []
    const { name, keys } = source.configMap
    const field = `spec.specSources[${index}].configMap`
    const found = collector.configMapTexts(field, name, keys)
    if (found.length === 0) areAll = false
    return found.map(([key, text]) => {
      // A missing one was reported before.
      if (text === '') areAll = false
      else texts.push({ field, configMap: name, key, text })
      const words = ['', 'spec', String(index), name, key]
      const place = { field: `spec.specSources[${index}]`, words }
      return collector.copiedFile(place, text, isJsonKey(key) ? 'json' : 'yml')
    })
  })
  return { section, texts, areAll }
}

/** A chain spec of the user's, from a ConfigMap. */
export interface SpecText {
  /** The ConfigMap, for messages: `spec.specSources[1].configMap`. */
  readonly field: string
  readonly configMap: string
  readonly key: string
  readonly text: string
}

/** What is known of a spec without the code that compiles it: why it is invalid, or the names of its chains. */
export interface OwnSpec {
  readonly fault: string | null
  /** By id and alias; null when this file alone does not name them. */
  readonly chains: readonly string[] | null
}

/** The file of one chain, as a router's pod would read it by its name. */
function isJsonKey(key: string): boolean {
  return key.endsWith('.json')
}

/** Looks at the form of a spec: whether it can be read, is a mapping, and says of which chain it is. */
export function readOwnSpec({ key, text }: Pick<SpecText, 'key' | 'text'>): OwnSpec {
  const broken = isJsonKey(key) ? jsonFault(text) : null
  if (broken !== null) return unreadable(`is not JSON: ${broken}`)
  const { document, problems } = readYamlText(text)
  const [problem] = problems
  if (document === null) {
    const line = problem?.line ?? null
    const where = line === null ? '' : `line ${line}: `
    return unreadable(`cannot be read: ${where}${problem?.message ?? 'it is no YAML'}`)
  }
  let root: unknown
  try {
    root = document.toJS()
  } catch (error) {
    return unreadable(`cannot be read: ${(error as Error).message}`)
  }
  if (typeof root !== 'object' || root === null || Array.isArray(root))
    return unreadable('must be a mapping with id and interfaces')
  // A list of specs of the public catalog, which can have further names, or keys from elsewhere in the file.
  if ('proposal' in root || '<<' in root) return { fault: null, chains: null }
  const { id, aliases } = root as { readonly id?: unknown; readonly aliases?: unknown }
  if (typeof id === 'string' && id !== '') {
    const others = (Array.isArray(aliases) ? aliases : []).filter(
      (name) => typeof name === 'string',
    )
    return { fault: null, chains: [id, ...others] }
  }
  // A failure table is of no chain.
  const isTable = 'failures' in root && !('id' in root) && !('interfaces' in root)
  return isTable ? { fault: null, chains: [] } : unreadable('must have the id of its chain')
}

function unreadable(fault: string): OwnSpec {
  return { fault, chains: null }
}

function jsonFault(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

export interface JudgedSpecs {
  readonly refusals: readonly ConfigRefusal[]
  /** The chains of the router, as far as they are known without compiling a spec. */
  readonly known: KnownChains
}

/**
 * Judges the chain specs of a router.
 *
 * @param bundled the chains of the bundled specs
 */
export function judgeSpecs({ texts, areAll }: SpecsRead, bundled: KnownChains): JudgedSpecs {
  const specs = texts.map((text) => ({ text, ...readOwnSpec(text) }))
  const refusals = specs.flatMap(({ text: { key, configMap, field }, fault }): ConfigRefusal[] => {
    const message = `the key ${key} of the ConfigMap ${configMap} is no chain spec: it ${fault}`
    return fault === null ? [] : [{ reason: 'InvalidConfig', field, message }]
  })
  const own = specs.map(({ chains }) => chains)
  // With one that is not known, no chain can be refused.
  if (!areAll || own.includes(null)) return { refusals, known: anyChain }
  const names = own.flatMap((chains) => chains ?? [])
  return { refusals, known: names.length === 0 ? bundled : chainsAmong(names, bundled) }
}

/** Knows only that the user's own chains exist: their specs are compiled when a pod starts. */
function chainsAmong(own: readonly string[], bundled: KnownChains): KnownChains {
  const ours = new Set(own.map((name) => name.toUpperCase()))
  return {
    ids: [...own, ...bundled.ids],
    find: (id) => (ours.has(id.toUpperCase()) ? anyChain : bundled).find(id),
  }
}

/** What the specs of the image say that a config can ask for: one row a chain and interface. */
export type ChainRow = readonly [
  id: string,
  aliases: readonly string[],
  apiInterface: ApiInterface,
  addons: readonly string[],
  verificationNames: readonly string[],
  subscribes: boolean,
]

/** Chains to check a config against. Ids are matched without regard to case, as the router does. */
export function knownChains(rows: readonly ChainRow[]): KnownChains {
  const chains = new Map<string, KnownChain>()
  const names = new Map<string, KnownChain>()
  for (const [id, sameRows] of Map.groupBy(rows, ([id]) => id)) {
    const interfaces = sameRows.map(([, , apiInterface, addons, verificationNames]) => {
      const words = { addons: new Set(addons), verificationNames: new Set(verificationNames) }
      return [apiInterface, words] as const
    })
    const chain = { id, interfaces: new Map(interfaces) }
    chains.set(id, chain)
    for (const name of [id, ...sameRows.flatMap(([, aliases]) => aliases)])
      names.set(name.toUpperCase(), chain)
  }
  return {
    ids: [...chains.keys()],
    find: (id) => names.get(id.toUpperCase()) ?? null,
    subscribes: (id, name) => rows.find((row) => row[0] === id && row[2] === name)?.[5] ?? null,
  }
}
