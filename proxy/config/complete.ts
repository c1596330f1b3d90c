// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChain, KnownChains } from './checks/check-chains.ts'
import { formatAddress, parseAddress } from './fields/address.ts'
import type { ApiInterface } from './fields/fields.ts'
import { defaultPort } from './settings.ts'
import { child, isList, isMap, Scalar, type Tree, type TreeMap } from './yaml/scalar.ts'

/**
 * Turns a short config into its long form, in which each URL is a map, each entry names its
 * interface, and each listener is written out. Leaves what it cannot derive, such as the interface
 * of a chain with several, for the schema to report.
 *
 * @param chains null derives nothing from the chain specs
 */
export function completeTree(file: TreeMap, chains: KnownChains | null): TreeMap {
  const tree = { ...file }
  const upstreams = (['direct-rpc', 'backup-direct-rpc'] as const).flatMap((key) => {
    const list = eachMap(tree[key], (entry) => completeUpstream(entry, chains))
    if (list) tree[key] = list
    return list?.filter(isMap) ?? []
  })
  if (chains === null) return tree
  const complete = (entry: TreeMap) => {
    const id = idOf(entry, chains)
    const own = new Set(
      upstreams
        .filter((each) => idOf(each, chains) === id)
        .map((each) => textAt(each, interfaceKey)),
    )
    const [only = null] = own
    return withInterface(entry, own.size === 1 ? only : usualInterface(chains.find(id), []))
  }
  tree['endpoints'] =
    tree['endpoints'] === undefined
      ? listenersOf(upstreams, textAt(tree, 'network-address'), chains)
      : (eachMap(tree['endpoints'], complete) ?? tree['endpoints'])
  const policies = eachMap(child(tree['cross-validation'], 'policies'), complete)
  if (policies) tree['cross-validation'] = { ...(tree['cross-validation'] as TreeMap), policies }
  return tree
}

const interfaceKey = 'api-interface'
const loopback = { host: '127.0.0.1', port: defaultPort }

/** One listener per chain and interface: the first on this address, each other on the next port. */
function listenersOf(upstreams: readonly TreeMap[], first: string, chains: KnownChains): Tree {
  const reading = parseAddress(first, defaultPort)
  // The check of the setting reports a wrong address.
  const { host, port } = first && 'value' in reading ? reading.value : loopback
  const served = new Map<string, TreeMap>()
  for (const entry of upstreams) {
    const { 'chain-id': chainId = null, [interfaceKey]: apiInterface = null } = entry
    const [id, iface] = [idOf(entry, chains), textAt(entry, interfaceKey)]
    const chain = chains.find(id)
    if (chain === null || apiInterface === null) continue
    // The check of the upstream reports an interface that the chain lacks.
    if (chain.interfaces?.has(iface as ApiInterface) === false) continue
    const address = new Scalar(formatAddress({ host, port: port && port + served.size }))
    served.getOrInsert(`${id} ${iface}`, {
      ...{ 'network-address': address, 'chain-id': chainId, [interfaceKey]: apiInterface },
    })
  }
  return [...served.values()]
}

function completeUpstream(entry: TreeMap, chains: KnownChains | null): TreeMap {
  const urls = entry['node-urls'] ?? null
  const list = urls instanceof Scalar ? [urls] : isList(urls) ? urls : []
  const nodeUrls = list.map((url) => (url instanceof Scalar ? { url } : url))
  const complete = { ...entry, ...(list.length > 0 && { 'node-urls': nodeUrls }) }
  if (chains === null) return complete
  const texts = nodeUrls.map((url) => (isMap(url) ? textAt(url, 'url') : ''))
  return withInterface(complete, usualInterface(chains.find(idOf(entry, chains)), texts))
}

/**
 * The interface of an entry that names none: gRPC or JSON-RPC, as the URLs suggest, or the only
 * one of the chain. Null if there are several others.
 */
export function usualInterface(
  chain: Pick<KnownChain, 'interfaces'> | null,
  urls: readonly string[],
): ApiInterface | null {
  const byUrl = urls.some((url) => /^grpcs?:/i.test(url)) ? 'grpc' : 'jsonrpc'
  const { interfaces = null } = chain ?? {}
  if (interfaces === null || interfaces.has(byUrl)) return byUrl
  const [only = null, other] = interfaces.keys()
  return other === undefined ? only : null
}

function withInterface(entry: TreeMap, apiInterface: string | null): TreeMap {
  if (apiInterface === null || entry[interfaceKey] !== undefined) return entry
  const pairs = Object.entries(entry)
  const after = pairs.findIndex(([key]) => key === 'chain-id') + 1
  return Object.fromEntries(pairs.toSpliced(after, 0, [interfaceKey, new Scalar(apiInterface)]))
}

/** The interfaces of an entry's chain; null if the chain is unknown. */
export function interfacesOf(entry: Tree, chains: KnownChains): readonly string[] | null {
  const interfaces = isMap(entry) ? chains.find(textAt(entry, 'chain-id'))?.interfaces : null
  return interfaces ? [...interfaces.keys()] : null
}

function eachMap(
  list: Tree | undefined,
  change: (entry: TreeMap) => TreeMap,
): readonly Tree[] | null {
  return isList(list) ? list.map((each) => (isMap(each) ? change(each) : each)) : null
}

function textAt(entry: TreeMap, key: string): string {
  const value = entry[key]
  return value instanceof Scalar ? (value.reveal() ?? value.written) : ''
}

function idOf(entry: TreeMap, chains: KnownChains): string {
  const text = textAt(entry, 'chain-id')
  return chains.find(text)?.id ?? text
}
