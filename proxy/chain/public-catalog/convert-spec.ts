// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ApiInterface, apiInterfaces } from '../../config/types.ts'
import type {
  NativeInterface,
  NativeMethod,
  NativeProbe,
  NativeSpec,
  NativeVerification,
} from '../native/schema.ts'
import type { Family } from '../types.ts'
import { catalogBlockWords, convertMethod } from './convert-method.ts'
import { convertProbe, convertVerification, heightEncoding } from './convert-probe.ts'
import type { CatalogCollection, CatalogCollectionData, CatalogSpec } from './schema.ts'

/**
 * Collections by key, in layers: those of the spec, then of imported specs, then those inherited
 * from other collections.
 */
export type Collections = ReadonlyMap<string, readonly CatalogCollection[]>

function collectionKey(data: CatalogCollectionData): string {
  return [data.api_interface, data.internal_path, data.type, data.add_on].join('|')
}

/** The collections of a spec. Disabled ones remain, because others may inherit from them. */
export function expandCollections(
  spec: CatalogSpec,
  imported: readonly Collections[],
): Collections {
  const own = Map.groupBy(spec.api_collections, (each) => collectionKey(each.collection_data))
  const layersOf = (key: string, through: readonly string[]): readonly CatalogCollection[] => {
    if (through.includes(key)) return []
    const stated = own.get(key) ?? []
    const below = imported.flatMap((collections) => collections.get(key) ?? [])
    // Imported collections already include what they inherit.
    const inherited = stated
      .flatMap((each) => each.inheritance_apis)
      .flatMap((data) => layersOf(collectionKey(data), [...through, key]))
    return [...new Set([...stated, ...below, ...inherited])]
  }
  const keys = new Set([own, ...imported].flatMap((collections) => [...collections.keys()]))
  return new Map([...keys].map((key) => [key, layersOf(key, [])]))
}

/** Merges layers. The first entry with a name wins, even if it disables the name. */
function flatten(layers: readonly CatalogCollection[]): CatalogCollection[] {
  const verifications = Map.groupBy(
    layers.flatMap((layer) => layer.verifications),
    ({ name }) => name,
  )
  return layers.slice(0, 1).map((top) => ({
    ...top,
    apis: firsts(layers.map(({ apis }) => apis)),
    headers: firsts(layers.map(({ headers }) => headers)),
    parse_directives: firsts(layers.map((layer) => layer.parse_directives)),
    extensions: firsts(layers.map(({ extensions }) => extensions)),
    // A layer may contain only values, and inherit the request from the layer below.
    verifications: [...verifications].map(([name, layered]) => ({
      name,
      parse_directive: layered.find((each) => each.parse_directive)?.parse_directive,
      values: layered.find((each) => each.values?.length)?.values,
    })),
  }))
}

function firsts<Item extends { name: string } | { function_tag: string }>(
  lists: readonly (readonly Item[])[],
): Item[] {
  const same = Map.groupBy(lists.flat(), (item) => ('name' in item ? item.name : item.function_tag))
  return [...same.values()].flatMap((items) => items.slice(0, 1))
}

/**
 * Converts a chain of the catalog to the native format. Omits collections below `/ws/`: they repeat
 * another collection, for WebSocket URLs to which no path is appended.
 */
export function convertSpec(spec: CatalogSpec, collections: Collections): NativeSpec {
  const interfaces: NonNullable<NativeSpec['interfaces']> = {}
  const all = [...collections.values()].flatMap(flatten)
  for (const apiInterface of apiInterfaces) {
    const own = all.filter((each) => each.collection_data.api_interface === apiInterface)
    const served = own.filter(
      ({ enabled, collection_data: { internal_path: path } }) =>
        enabled && !path.startsWith('/ws/'),
    )
    if (served.length === 0) continue
    const names = own.flatMap((each) => each.verifications.map(({ name }) => name))
    interfaces[apiInterface] = {
      ...convertInterface(apiInterface, served),
      // Includes omitted and disabled names, because a config may skip them.
      'unasked-verifications': names,
    }
  }
  const families = familiesOf(interfaces)
  const [family = 'other'] = families
  return {
    id: spec.index,
    name: spec.name,
    family,
    'block-time': `${spec.average_block_time}ms`,
    'allowed-lag': spec.allowed_block_lag_for_qos_sync,
    finality: spec.block_distance_for_finalized_data,
    failures: families,
    'block-words': family === 'evm' ? {} : catalogBlockWords,
    interfaces,
  }
}

/** Brand-free aliases for methods of the catalog. */
const neutralPrefixes: Readonly<Partial<Record<ApiInterface, Record<string, string>>>> = {
  rest: { '/cosmos/': '/sdk/', '/cosmwasm/': '/sdkwasm/' },
  grpc: { 'cosmos.': 'sdk.', 'cosmwasm.': 'sdkwasm.' },
}

interface Part {
  methods: Record<string, NativeMethod>
  verifications: Record<string, NativeVerification>
}

function convertInterface(
  apiInterface: ApiInterface,
  collections: readonly CatalogCollection[],
): NativeInterface {
  const standard: Part = { methods: {}, verifications: {} }
  const addons: Record<string, Part> = {}
  const partOf = (addon: string) =>
    addon === '' ? standard : (addons[addon] ??= { methods: {}, verifications: {} })
  const names = collections.flatMap(({ apis }) => apis.map(({ name }) => name))
  const isChecked = !names.some((name) => name.startsWith('Filecoin.'))
  let latestBlock: NativeProbe | undefined
  for (const collection of collections) {
    const data = collection.collection_data
    partOf(data.add_on)
    for (const { name } of collection.extensions) partOf(name)
    const request = collection.parse_directives.find((each) => each.function_tag === 'GET_BLOCKNUM')
    const probe = request ? convertProbe(request, data, heightEncoding(request)) : null
    latestBlock ??= probe ?? undefined
    for (const api of collection.apis) {
      if (!api.enabled) continue
      const isTip = probe !== null && api.name === request?.api_name
      const tip = isTip ? { path: probe.result, encoding: probe.encoding } : undefined
      const key = [verbOf(collection) || data.internal_path, api.name].filter(Boolean).join(' ')
      partOf(data.add_on).methods[key] ??= convertMethod(api, data, tip, isChecked)
    }
  }
  // The standard set takes precedence over an add-on with the same method.
  for (const { methods } of Object.values(addons))
    for (const key of Object.keys(methods)) if (key in standard.methods) delete methods[key]
  // If a chain also answers at its root, a URL need not serve every path.
  const atRoot = collections.filter((each) => each.collection_data.internal_path === '')
  for (const collection of atRoot.length > 0 ? atRoot : collections)
    for (const each of collection.verifications)
      for (const { name, addon, verification } of convertVerification(each, collection))
        partOf(addon).verifications[name] ??= verification
  const archiveRules = collections
    .flatMap(({ extensions }) => extensions)
    .flatMap(({ name, rule }) => (name === 'archive' && rule?.block ? [rule.block] : []))
  return {
    ...standard,
    'latest-block': latestBlock,
    'add-ons': addons,
    'archive-after': archiveRules.length === 0 ? undefined : Math.min(...archiveRules),
    'request-headers': headersOf(collections, ['pass_send', 'pass_both']),
    'response-headers': headersOf(collections, ['pass_reply', 'pass_both']),
    'block-headers': [...new Set(collections.flatMap(blockHeaders))],
    aliases: neutralPrefixes[apiInterface],
  }
}

function verbOf({ collection_data: data }: CatalogCollection): string {
  return data.api_interface === 'rest' ? data.type.toUpperCase() || 'GET' : ''
}

function headersOf(collections: readonly CatalogCollection[], kinds: readonly string[]): string[] {
  const headers = collections.flatMap((each) => each.headers)
  return headers.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name.toLowerCase())
}

function blockHeaders({ parse_directives: directives }: CatalogCollection): string[] {
  return (
    directives
      .filter(({ function_tag: tag }) => tag === 'SET_LATEST_IN_METADATA')
      // A REST gateway forwards a header with this prefix; the node reads it without.
      .flatMap(({ api_name: name = '' }) => [name, name.replace(/^grpc-metadata-/, '')])
      .map((name) => name.toLowerCase())
      .filter(Boolean)
  )
}

/** Methods that occur only on chains of the family. */
const familyMarks: readonly (readonly [Family, ApiInterface, RegExp])[] = [
  ['evm', 'jsonrpc', /(^| )eth_blockNumber$/],
  ['cosmos', 'tendermintrpc', /^abci_query$/],
  ['solana', 'jsonrpc', /^getLatestBlockhash$/],
  ['bitcoin', 'jsonrpc', /^getblockcount$/],
  ['aptos', 'rest', /^GET \/accounts\/\{address\}\/resources$/],
]

function familiesOf(interfaces: NonNullable<NativeSpec['interfaces']>): Family[] {
  return familyMarks
    .filter(([, apiInterface, mark]) =>
      Object.keys(interfaces[apiInterface]?.methods ?? {}).some((key) => mark.test(key)),
    )
    .map(([family]) => family)
}
