// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { entriesOf } from './entries.ts'
import { apiInterface, chainId } from './names.ts'
import { quote } from './path.ts'
import type { Problem } from './problem.ts'
import { child, Scalar, type Tree } from './scalar.ts'
import type { Position } from './yaml-text.ts'

const chainIdField = chainId()
const interfaceField = apiInterface()

/** The one id of a chain, whatever name the file has for it; null when nobody knows it, which is told elsewhere. */
export type ChainIdOf = (written: string) => string | null

/** What an entry says that it serves, as `ETH1 jsonrpc`; null when it says nothing that can be understood. */
interface Entry {
  readonly path: string
  readonly serves: string | null
}

interface Upstream extends Entry {
  readonly name: string | null
}

/**
 * What is wrong between listeners and upstreams: names that stand twice, listeners without upstreams, upstreams without
 * listeners. A chain has several names, so this takes who knows them. Works on a file that has other mistakes too, and
 * then doubts in the file's favour.
 */
export function checkServing(
  tree: Tree,
  chainIdOf: ChainIdOf,
  locate: (path: string) => Position | null,
): readonly Problem[] {
  const listeners = entriesOf(tree, 'endpoints').map(([entry, path]) => ({
    path,
    serves: servesOf(entry, chainIdOf),
  }))
  const upstreamsOf = (tier: string): readonly Upstream[] =>
    entriesOf(tree, tier).map(([entry, path]) => {
      const name = child(entry, 'name')
      const serves = servesOf(entry, chainIdOf)
      return { path, serves, name: name instanceof Scalar ? name.written : null }
    })
  const primaries = upstreamsOf('direct-rpc')
  const upstreams = [...primaries, ...upstreamsOf('backup-direct-rpc')]
  const report: Report = (severity, path, message, hint) => {
    const { line = null, column = null } = locate(path) ?? {}
    return { severity, path, line, column, message, hint }
  }
  const lineOf = (path: string): string => `line ${locate(path)?.line ?? '?'}`
  return [
    ...checkNames(upstreams, report, lineOf),
    ...checkListeners(listeners, primaries, report),
    ...checkUpstreams(listeners, upstreams, report),
  ]
}

type Report = (
  severity: Problem['severity'],
  path: string,
  message: string,
  hint: string | null,
) => Problem

function checkNames(
  upstreams: readonly Upstream[],
  report: Report,
  lineOf: (path: string) => string,
): readonly Problem[] {
  const seen = new Map<string, Upstream>()
  const problems: Problem[] = []
  for (const upstream of upstreams) {
    if (upstream.name === null || upstream.serves === null) continue
    const identity = `${upstream.serves} ${upstream.name}`
    const first = seen.get(identity)
    if (first === undefined) {
      seen.set(identity, upstream)
      continue
    }
    const message = `an upstream named ${quote(upstream.name)} serves ${upstream.serves} already`
    const hint = `It is on ${lineOf(`${first.path}.name`)}. Names are unique per chain and interface, over both tiers.`
    problems.push(report('error', `${upstream.path}.name`, message, hint))
  }
  return problems
}

function checkListeners(
  listeners: readonly Entry[],
  primaries: readonly Upstream[],
  report: Report,
): readonly Problem[] {
  // An upstream that cannot be understood may be the one that is missed.
  if (primaries.some((upstream) => upstream.serves === null)) return []
  const served = new Set(primaries.map((upstream) => upstream.serves))
  const ids = [...served].join(', ')
  return listeners
    .filter((listener) => listener.serves !== null && !served.has(listener.serves))
    .map((listener) => {
      const message = `no upstream of direct-rpc serves ${listener.serves}`
      const hint = ids === '' ? 'Add one.' : `Those there serve ${ids}.`
      return report('error', listener.path, message, hint)
    })
}

function checkUpstreams(
  listeners: readonly Entry[],
  upstreams: readonly Upstream[],
  report: Report,
): readonly Problem[] {
  if (listeners.some((listener) => listener.serves === null)) return []
  const served = new Set(listeners.map((listener) => listener.serves))
  return upstreams
    .filter((upstream) => upstream.serves !== null && !served.has(upstream.serves))
    .map((upstream) => {
      const message = `no listener of endpoints serves ${upstream.serves}, so this upstream is not used`
      return report('warning', upstream.path, message, null)
    })
}

function servesOf(entry: Tree, chainIdOf: ChainIdOf): string | null {
  const chain = chainIdField.safeParse(child(entry, 'chain-id'))
  const api = interfaceField.safeParse(child(entry, 'api-interface'))
  const id = chain.success ? chainIdOf(chain.data) : null
  return id !== null && api.success ? `${id} ${api.data}` : null
}
