// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { addressesOverlap, formatAddress } from './address.ts'
import type { Field } from './field.ts'
import { address } from './fields.ts'
import { apiInterface, chainId } from './names.ts'
import { formatPath, quote } from './path.ts'
import type { Problem } from './problem.ts'
import { child, isList, isMap, Scalar, type Tree } from './scalar.ts'
import { defaultPort } from './schema.ts'
import type { Address } from './types.ts'
import type { Position } from './yaml-text.ts'

const chainIdField = chainId()
const interfaceField = apiInterface()
const addressField = address(defaultPort)

/** What an entry says that it serves; null when it says nothing that can be understood. */
interface Entry {
  readonly path: string
  readonly serves: string | null
}

interface Listening extends Entry {
  readonly bound: ShownAddress | null
  /** The key that says it, or the entry when none does. */
  readonly addressPath: string
}

/** An address, and the text that messages show for it: placeholders unrendered. */
interface ShownAddress {
  readonly address: Address
  readonly shown: string
}

interface Upstream extends Entry {
  readonly name: string | null
}

/**
 * What is wrong between the entries of a file: names that stand twice, addresses that collide, listeners without
 * upstreams. Works on a file that has other mistakes too, and then doubts in the file's favour.
 */
export function checkTopology(
  tree: Tree,
  metrics: ShownAddress | null,
  locate: (path: string) => Position | null,
): readonly Problem[] {
  const listeners = entriesOf(tree, 'endpoints').map(([entry, path]) => readListener(entry, path))
  const primaries = entriesOf(tree, 'direct-rpc').map(([entry, path]) => readUpstream(entry, path))
  const backups = entriesOf(tree, 'backup-direct-rpc').map(([entry, path]) =>
    readUpstream(entry, path),
  )
  const report: Report = (severity, path, message, hint) => {
    const { line = null, column = null } = locate(path) ?? {}
    return { severity, path, line, column, message, hint }
  }
  const lineOf = (path: string): string => `line ${locate(path)?.line ?? '?'}`
  return [
    ...checkNames([...primaries, ...backups], report, lineOf),
    ...checkAddresses(listeners, metrics, report, lineOf),
    ...checkListeners(listeners, primaries, report),
    ...checkUpstreams(listeners, [...primaries, ...backups], report),
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

function checkAddresses(
  listeners: readonly Listening[],
  metrics: ShownAddress | null,
  report: Report,
  lineOf: (path: string) => string,
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [index, { bound, addressPath }] of listeners.entries()) {
    if (bound === null) continue
    const overlapsThis = (other: ShownAddress | null): boolean =>
      other !== null && addressesOverlap(other.address, bound.address)
    const earlier = listeners.slice(0, index).find((listener) => overlapsThis(listener.bound))
    const others = [
      ...(earlier
        ? [`${earlier.bound?.shown} of ${earlier.path} on ${lineOf(earlier.addressPath)}`]
        : []),
      ...(overlapsThis(metrics) ? [`${metrics?.shown} of metrics-listen-address`] : []),
    ]
    for (const other of others) {
      const message = `${bound.shown} collides with ${other}`
      problems.push(report('error', addressPath, message, 'Give each its own port.'))
    }
  }
  return problems
}

function checkListeners(
  listeners: readonly Listening[],
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
      const hint =
        ids === '' ? 'Add one.' : `Those there serve ${ids}. Both must write the chain id alike.`
      return report('error', listener.path, message, hint)
    })
}

function checkUpstreams(
  listeners: readonly Listening[],
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

function entriesOf(tree: Tree, key: string): readonly (readonly [entry: Tree, path: string])[] {
  const list = child(tree, key)
  if (!isList(list)) return []
  return list
    .map((entry, index) => [entry, formatPath([key, index])] as const)
    .filter(([entry]) => isMap(entry))
}

function readListener(entry: Tree, path: string): Listening {
  const key = ['network-address', 'listen-address'].find((name) => child(entry, name) !== undefined)
  const written = key === undefined ? new Scalar(`:${defaultPort}`) : child(entry, key)
  return {
    path,
    serves: servesOf(entry),
    bound: written instanceof Scalar ? showAddress(addressField, written) : null,
    addressPath: key === undefined ? path : `${path}.${key}`,
  }
}

/** Reads an address for a comparison; null when it is none. */
export function showAddress(
  field: Field<Address> | Field<Address | null>,
  scalar: Scalar,
): ShownAddress | null {
  const parsed = field.safeParse(scalar)
  if (!parsed.success || parsed.data === null) return null
  const shown = scalar.hasPlaceholder ? scalar.written : formatAddress(parsed.data)
  return { address: parsed.data, shown }
}

function readUpstream(entry: Tree, path: string): Upstream {
  const name = child(entry, 'name')
  return { path, serves: servesOf(entry), name: name instanceof Scalar ? name.written : null }
}

/** `ETH1 jsonrpc`. */
function servesOf(entry: Tree): string | null {
  const chain = chainIdField.safeParse(child(entry, 'chain-id'))
  const api = interfaceField.safeParse(child(entry, 'api-interface'))
  return chain.success && api.success ? `${chain.data} ${api.data}` : null
}
