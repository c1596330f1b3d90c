// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChainUse, type KnownChains, checkChains } from '../../proxy/config/check-chains.ts'
import type { Problem } from '../../proxy/config/problem.ts'
import type { SocketFacts } from '../../proxy/config/socket-check.ts'
import { readYamlText } from '../../proxy/config/yaml/read-yaml.ts'
import type { SpecSource } from '../api/spec-sources.ts'
import { bundledSpecs } from './object-names.ts'
import type { ValueCollector } from './value-collector.ts'
import type { ConfigRefusal } from './violation.ts'
import { isAlias, isMap, isScalar, isSeq } from 'yaml'

/** The specs of a router's own. */
export interface SpecsRead {
  /** The `use-static-spec` list of the config: paths in the pod, and URLs. Undefined for the bundled specs alone. */
  readonly section: readonly string[] | undefined
  readonly texts: readonly SpecText[]
  /** Whether no others are read by the pods: none of a URL, and none that is not there yet. */
  readonly areAll: boolean
}

/** Gathers the specs that a router asks for. */
export function readSpecSources(
  sources: readonly SpecSource[] | undefined,
  collector: ValueCollector,
): SpecsRead {
  const texts: SpecText[] = []
  let areAll = true
  const section = sources?.flatMap((source, index) => {
    if (source.url !== undefined) {
      areAll = false
      return [source.url]
    }
    if (source.configMap === undefined) return [bundledSpecs]
    const { name, keys } = source.configMap
    const field = `spec.specSources[${index}].configMap`
    const found = collector.configMapTexts(field, name, keys)
    if (found.length === 0) areAll = false
    return found.map(([key, text]) => {
      // One that is missing was told as such.
      if (text === '') areAll = false
      else texts.push({ field, configMap: name, key, text })
      const words = ['', 'spec', String(index), name, key]
      const place = { field: `spec.specSources[${index}]`, words }
      return collector.copiedFile(place, text, isJsonKey(key) ? 'json' : 'yml')
    })
  })
  return { section, texts, areAll }
}

/** True when every chain that the router can know is one of the image. */
export function usesBundledSpecsAlone(sources: readonly SpecSource[] | undefined): boolean {
  return sources === undefined || sources.every(({ type }) => type === 'Bundled')
}

/** A chain spec of the user's, from a ConfigMap. */
export interface SpecText {
  /** The ConfigMap, for messages: `spec.specSources[1].configMap`. */
  readonly field: string
  readonly configMap: string
  readonly key: string
  readonly text: string
}

/** What can be told of a spec without the code that compiles it: why it is none, or how its chains are called. */
export type OwnSpec =
  | { readonly fault: string }
  /** `chains` by id and alias; null when they are not told in this file alone. */
  | { readonly fault: null; readonly chains: readonly string[] | null }

/** The file of one chain, as a router's pod would read it by its name. */
function isJsonKey(key: string): boolean {
  return key.endsWith('.json')
}

/** Looks at the form of a spec: whether it can be read, is a mapping, and says of which chain it is. */
export function readOwnSpec({ key, text }: Pick<SpecText, 'key' | 'text'>): OwnSpec {
  const broken = isJsonKey(key) ? jsonFault(text) : null
  if (broken !== null) return { fault: `is not JSON: ${broken}` }
  const { document, problems } = readYamlText(text)
  const [problem] = problems
  if (document === null) {
    const line = problem?.line ?? null
    const where = line === null ? '' : `line ${line}: `
    return { fault: `cannot be read: ${where}${problem?.message ?? 'it is no YAML'}` }
  }
  const root = document.contents
  if (!isMap(root)) return { fault: 'must be a mapping with id and interfaces' }
  // A list of specs of the public catalog, which can have further names, or keys from elsewhere in the file.
  if (root.has('proposal') || root.has('<<')) return { fault: null, chains: null }
  const [id] = wordsIn(root.get('id', true))
  if (id !== undefined) {
    const aliases = root.get('aliases', true)
    const names = isSeq(aliases) ? aliases.items : []
    const areTold =
      (aliases === undefined || isSeq(aliases)) && names.every((name) => isScalar(name))
    return { fault: null, chains: areTold ? [id, ...names.flatMap(wordsIn)] : null }
  }
  if (isAlias(root.get('id', true))) return { fault: null, chains: null }
  // A failure table is of no chain.
  const isTable = root.has('failures') && !root.has('id') && !root.has('interfaces')
  return isTable ? { fault: null, chains: [] } : { fault: 'must have the id of its chain' }
}

function jsonFault(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

function wordsIn(node: unknown): readonly string[] {
  return isScalar(node) && typeof node.value === 'string' && node.value !== '' ? [node.value] : []
}

/** What a config asks of chains that they do not have, as far as it can be told without compiling a spec. */
export type ChainCheck = (uses: readonly ChainUse[]) => readonly Problem[]

export interface JudgedSpecs {
  readonly refusals: readonly ConfigRefusal[]
  readonly check: ChainCheck
  /** Whether clients can subscribe; null where only the router knows. */
  readonly subscribes: SocketFacts['subscribes']
}

/**
 * Judges the chain specs of a router.
 *
 * @param image what the specs of the image have
 */
export function judgeSpecs(
  sources: readonly SpecSource[] | undefined,
  { texts, areAll }: SpecsRead,
  image: KnownChains,
): JudgedSpecs {
  if (usesBundledSpecsAlone(sources))
    return {
      refusals: [],
      check: (uses) => checkChains(uses, image, () => null),
      subscribes: (chainId, apiInterface) =>
        image.find(chainId)?.interfaces.get(apiInterface)?.subscribes ?? null,
    }
  const refusals: ConfigRefusal[] = []
  const specs: OwnSpec[] = []
  for (const text of texts) {
    const spec = readOwnSpec(text)
    specs.push(spec)
    if (spec.fault !== null) {
      const message = `the key ${text.key} of the ConfigMap ${text.configMap} is no chain spec: it ${spec.fault}`
      refusals.push({ reason: 'InvalidConfig', field: text.field, message })
    }
  }
  const own = areAll ? namesOf(specs) : null
  const subscribes = () => null
  if (own === null) return { refusals, check: () => [], subscribes }
  const isBundled = sources?.some(({ type }) => type === 'Bundled') ?? true
  return { refusals, check: checkAmong(own, isBundled ? image : null), subscribes }
}

/** How all chains of these specs are called; null when that is not known of one. */
function namesOf(specs: readonly OwnSpec[]): readonly string[] | null {
  const names: string[] = []
  for (const spec of specs) {
    if (spec.fault !== null || spec.chains === null) return null
    names.push(...spec.chains)
  }
  return names
}

/** Knows of a chain of one's own that it is there, and no more: its spec is compiled when a pod starts. */
function checkAmong(own: readonly string[], image: KnownChains | null): ChainCheck {
  const ours = new Set(own.map((name) => name.toUpperCase()))
  const known: KnownChains = {
    ids: [...own, ...(image?.ids ?? [])],
    find: (id) => image?.find(id) ?? null,
  }
  return (uses) =>
    checkChains(
      uses.filter(({ chainId }) => !ours.has(chainId.toUpperCase())),
      known,
      () => null,
    )
}
