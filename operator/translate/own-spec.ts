// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import { readYamlText } from '../../proxy/config/yaml/read-yaml.ts'

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
export function isJsonKey(key: string): boolean {
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
