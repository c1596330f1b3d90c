// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiInterfaces } from '../../config/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { namesHeight } from '../question-at.ts'
import { methodKey } from '../chain-spec.ts'
import type { ChainSpec, InterfaceSpec, MethodSpec } from '../chain-spec.ts'
import type { Family, ProbeCall } from '../types.ts'
import { catalogBlockWords } from './convert-block.ts'
import { convertMethod } from './convert-method.ts'
import { convertProbe, convertVerifications, heightEncoding } from './convert-probe.ts'
import type { Collections } from './inherit.ts'
import type { CatalogCollection, CatalogSpec } from './schema.ts'

/**
 * A chain of the catalog as one of ours. A collection below `/ws/` is left out: it is another one
 * over again, for the URL of a node's WebSocket, and nothing is appended to such a URL.
 */
export function convertSpec(spec: CatalogSpec, collections: Collections): ChainSpec {
  const interfaces = new Map<ApiInterface, InterfaceSpec>()
  for (const apiInterface of apiInterfaces) {
    const own = [...collections.values()].filter(
      (each) => each.collection_data.api_interface === apiInterface,
    )
    const enabled = own.filter(
      ({ enabled, collection_data: { internal_path: path } }) =>
        enabled && !path.startsWith('/ws/'),
    )
    if (enabled.length === 0) continue
    const converted = convertInterface(apiInterface, enabled)
    interfaces.set(apiInterface, { ...converted, unaskedVerifications: unasked(converted, own) })
  }
  const families = familiesOf(interfaces)
  const [family = 'other'] = families
  const rpc = interfaces.get('jsonrpc')
  // Some nodes of the family answer nothing to a request without a version.
  if (family === 'bitcoin' && rpc) interfaces.set('jsonrpc', { ...rpc, impliedVersion: '1.0' })
  return {
    id: spec.index,
    aliases: neutralIds.get(spec.index) ?? [],
    name: spec.name,
    family,
    blockTimeMs: spec.average_block_time,
    allowedLagBlocks: spec.allowed_block_lag_for_qos_sync,
    finality: { kind: 'distance', blocks: spec.block_distance_for_finalized_data },
    failures: families,
    blockWords: family === 'evm' ? new Map() : catalogBlockWords,
    interfaces,
  }
}

/** Names that the catalog has and that are not asked: left out, or of what is switched off. */
function unasked(
  { verifications }: Pick<InterfaceSpec, 'verifications'>,
  collections: readonly CatalogCollection[],
): ReadonlySet<string> {
  const all = collections.flatMap((each) => each.verifications.map(({ name }) => name))
  return new Set(all).difference(new Set(verifications.map(({ name }) => name)))
}

/** Ids that stand for chains of the catalog in configs that name no brand. */
export const neutralIds: ReadonlyMap<string, readonly string[]> = new Map([
  ['SOLANA', ['SLOTCHAIN']],
  ['APT1', ['MOVECHAIN']],
  ['HYPERLIQUID', ['PERPEVM']],
  ['COSMOSHUB', ['HUBCHAIN']],
])

/** Names without a brand under which methods of the catalog are known as well. */
const neutralPrefixes: ReadonlyMap<ApiInterface, ReadonlyMap<string, string>> = new Map([
  [
    'rest',
    new Map([
      ['/cosmos/', '/sdk/'],
      ['/cosmwasm/', '/sdkwasm/'],
    ]),
  ],
  [
    'grpc',
    new Map([
      ['cosmos.', 'sdk.'],
      ['cosmwasm.', 'sdkwasm.'],
    ]),
  ],
])

function convertInterface(
  apiInterface: ApiInterface,
  collections: readonly CatalogCollection[],
): Omit<InterfaceSpec, 'unaskedVerifications'> {
  const addons = new Set<string>()
  const requestHeaders = new Set<string>()
  const responseHeaders = new Set<string>()
  const blockHeaders = new Set<string>()
  const methods = new Map<string, MethodSpec>()
  const archiveRules: number[] = []
  let latestBlock: ProbeCall | null = null
  let blockTimeQuestion: ProbeCall | null = null
  let blockHashQuestion: ProbeCall | null = null
  for (const collection of collections) {
    const data = collection.collection_data
    if (data.add_on !== '') addons.add(data.add_on)
    for (const { name, rule } of collection.extensions) {
      addons.add(name)
      if (name === 'archive' && rule?.block !== undefined) archiveRules.push(rule.block)
    }
    for (const { name, kind } of collection.headers) {
      if (kind === 'pass_send' || kind === 'pass_both') requestHeaders.add(name.toLowerCase())
      if (kind === 'pass_reply' || kind === 'pass_both') responseHeaders.add(name.toLowerCase())
    }
    for (const directive of collection.parse_directives)
      if (directive.function_tag === 'SET_LATEST_IN_METADATA' && directive.api_name !== undefined)
        // A REST gateway hands a header on under the prefix; the node itself reads it without.
        for (const name of [directive.api_name, directive.api_name.replace(/^grpc-metadata-/, '')])
          blockHeaders.add(name.toLowerCase())
    const asked = collection.parse_directives.find((each) => each.function_tag === 'GET_BLOCKNUM')
    const probe = asked ? convertProbe(asked, data, heightEncoding(asked)) : null
    latestBlock ??= probe
    const byNumber = collection.parse_directives.find(
      (each) => each.function_tag === 'GET_BLOCK_BY_NUM',
    )
    const question = byNumber ? convertProbe(byNumber, data, 'text') : null
    // Of other chains' answers the catalog does not say where the time stands.
    if (byNumber?.api_name === 'eth_getBlockByNumber' && question && namesHeight(question)) {
      blockTimeQuestion ??= { ...question, result: { path: ['timestamp'], encoding: 'hex' } }
      blockHashQuestion ??= { ...question, result: { path: ['hash'], encoding: 'text' } }
    }
    for (const api of collection.apis) {
      if (!api.enabled) continue
      const tip = probe !== null && api.name === asked?.api_name ? probe.result : null
      const method = convertMethod(api, data, tip)
      const key = methodKey(method)
      // The standard set stands before an add-on that lists the same method.
      const before = methods.get(key)
      if (before === undefined || before.addon !== null) methods.set(key, method)
    }
  }
  // A URL need not serve every path of a chain that answers at its root too.
  const atRoot = collections.filter((each) => each.collection_data.internal_path === '')
  const askedOfAll = atRoot.length > 0 ? atRoot : collections
  return {
    apiInterface,
    addons,
    impliedVersion: null,
    archiveAfterBlocks: archiveRules.length === 0 ? null : Math.min(...archiveRules),
    requestHeaders,
    responseHeaders,
    blockHeaders: [...blockHeaders],
    aliases: neutralPrefixes.get(apiInterface) ?? new Map<string, string>(),
    latestBlock,
    blockTimeQuestion,
    isBlockTimeOptional: false,
    blockHashQuestion,
    verifications: askedOfAll.flatMap(convertVerifications),
    methods,
  }
}

/** A method that only chains of the family have. */
const familyMarks: readonly (readonly [Family, ApiInterface, string])[] = [
  ['evm', 'jsonrpc', 'eth_blockNumber'],
  ['cosmos', 'tendermintrpc', 'abci_query'],
  ['solana', 'jsonrpc', 'getLatestBlockhash'],
  ['bitcoin', 'jsonrpc', 'getblockcount'],
  ['aptos', 'rest', '/accounts/{address}/resources'],
]

function familiesOf(interfaces: ReadonlyMap<ApiInterface, InterfaceSpec>): Family[] {
  return familyMarks
    .filter(([, apiInterface, name]) =>
      [...(interfaces.get(apiInterface)?.methods.values() ?? [])].some(
        (method) => method.name === name,
      ),
    )
    .map(([family]) => family)
}
