// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type CheckRule,
  type NativeBlock,
  type NativeMethod,
  type ValuePlace,
  blockTags,
} from '../native/schema.ts'
import type { BlockTag, CallKind } from '../types.ts'
import {
  type CatalogApi,
  type CatalogCollectionData,
  type CatalogParsing,
  parsePath,
} from './schema.ts'

/** Converts a method of the catalog. `tip` is where its answer shows the latest block. */
export function convertMethod(
  api: CatalogApi,
  data: CatalogCollectionData,
  tip: NativeMethod['tells-tip'],
  isChecked: boolean,
): NativeMethod {
  // The router does not read REST bodies.
  const inBody = data.api_interface === 'rest' && data.type.toUpperCase() === 'POST'
  const kind = kindOf(api, inBody)
  const deterministic =
    kind === 'read' && api.category?.deterministic === true && !api.category.local
  const saysBlock = api.block_parsing !== undefined && api.block_parsing.parser_func !== 'EMPTY'
  return {
    'internal-path': data.internal_path || undefined,
    kind,
    stateful: filters.find(([, pattern]) => pattern.test(api.name))?.[0],
    block: inBody ? 'none' : convertBlock(api, data),
    data: dataNeeded.find(([pattern]) => pattern.test(api.name))?.[1],
    cost: Math.max(1, Math.round(api.compute_units)),
    cacheable: deterministic && saysBlock && !inBody,
    deterministic,
    'by-hash': namedByHash(api),
    'waits-for-block': api.category?.hanging_api === true,
    timeout: api.timeout_ms ? `${api.timeout_ms}ms` : undefined,
    'runs-caller-code': running.test(api.name),
    'tells-tip': tip,
    checks: isChecked ? ethereumChecks.get(api.name) : [],
    answer: page.test(api.name) ? 'any' : 'json',
  }
}

// The catalog's `local` only says that answers differ between nodes. These methods use state that
// one node stores for its caller, so no other node can answer them.
const nodeLocal =
  /^(eth_|Filecoin\.Eth)(New\w*Filter|GetFilter(Changes|Logs)|UninstallFilter|Accounts|Sign|SignTransaction|SendTransaction)$/i
const filters: readonly (readonly [NonNullable<NativeMethod['stateful']>, RegExp])[] = [
  ['creates', /^(eth_|Filecoin\.Eth)New\w*Filter$/i],
  ['uses', /^(eth_|Filecoin\.Eth)GetFilter(Changes|Logs)$/i],
  ['ends', /^(eth_|Filecoin\.Eth)UninstallFilter$/i],
]
// These methods run the caller's code, or quote its query.
const running =
  /^(?:eth_|Filecoin\.Eth)(?:call|estimate|createAccessList|simulate)|^(?:\w*trace_|debug_trace|simulate|sendTransaction$|abci_query$|\w+_search$)|\/(?:simulate|smart\/.*|view)$|\/(?:Simulate|SmartContractState)$/i
// The catalog does not define which data a method reads. Methods without a row read state.
const dataNeeded: readonly (readonly [RegExp, NativeMethod['data']])[] = [
  [/^eth_getLogs$/, 'logs'],
  [/^eth_getBlockReceipts$/, 'receipts'],
  [
    /^eth_(?:feeHistory|get(?:Block|Header|Raw|Transaction\w+By|Uncle))|^getBlock|\/blocks?\//,
    'blocks',
  ],
  [/^(?:block|header|commit|block_results|blockchain|validators|consensus_params)$/, 'blocks'],
]
// Pages for operators and their tools. The catalog does not mark them.
const page = /\/(spec(\.\w+)?|health\w*|metrics|openapi[^/]*|swagger[^/]*|ping|version)\/?$/i
// Broadcasts that the catalog marks as reads.
const broadcast = /^eth_sendUserOperation$/
const broadcastPath = /^\/transactions(\/batch)?$/

function kindOf(api: CatalogApi, inBody: boolean): CallKind {
  const { subscription = false, stateful = 0, local = false } = api.category ?? {}
  if (subscription) return 'subscribe'
  if (nodeLocal.test(api.name)) return 'local'
  if (broadcast.test(api.name) || (inBody && broadcastPath.test(api.name))) return 'write'
  if (stateful === 1) return local ? 'local' : 'write'
  return 'read'
}

const identity = (member: string): CheckRule => ({ check: 'identity', param: 0, result: [member] })

/** The catalog has no checks. Filecoin fails these: hashes and numbers are ambiguous there. */
const ethereumChecks: ReadonlyMap<string, CheckRule[]> = new Map<string, CheckRule[]>([
  ['eth_getBlockByNumber', [{ check: 'block', number: ['number'] }]],
  ['eth_getBlockByHash', [identity('hash')]],
  ['eth_getTransactionByHash', [identity('hash')]],
  ['eth_getTransactionReceipt', [identity('transactionHash')]],
  ['eth_getTransactionByBlockNumberAndIndex', [{ check: 'block', number: ['blockNumber'] }]],
  ['eth_getTransactionByBlockHashAndIndex', [identity('blockHash')]],
  ['eth_getBlockReceipts', [{ check: 'block', each: true, number: ['blockNumber'] }]],
  ['eth_getLogs', [{ check: 'logs', param: 0 }]],
])

/** Names that chains of the catalog use for block tags. */
export const catalogBlockWords: Readonly<Record<string, BlockTag>> = {
  validated: 'latest',
  closed: 'latest',
  current: 'pending',
  optimistic: 'latest',
  'near-final': 'latest',
  final: 'finalized',
  head: 'latest',
  genesis: 'earliest',
  processed: 'latest',
  confirmed: 'latest',
  pre_confirmed: 'pending',
  l1_accepted: 'finalized',
}

/** How the requests of a catalog method name their block. */
function convertBlock(api: CatalogApi, data: CatalogCollectionData): NativeBlock {
  const parsing = api.block_parsing
  if (parsing === undefined || parsing.parser_func === 'EMPTY') return 'none'
  if (parsing.parser_func === 'DEFAULT') return convertDefault(api, parsing)
  const absent = tagOf(parsing.default_value) ?? 'latest'
  const places = parsedPlaces(api, parsing, data)
  const [first] = places
  if (first === undefined) return absent
  const range = filterRange(first, absent)
  if (range !== null) return range
  const alternatives = genericPlaces(api, 'DEFAULT_VALUE')
  const field = parsing.parser_func.startsWith('PARSE_DICTIONARY') ? parsing.parser_arg[0] : null
  return {
    'first-of': [...places, ...alternatives],
    default: absent,
    ...(field && {
      'number-field': field,
      'hash-field': field.replace(/number|height|index/, 'hash'),
    }),
  }
}

/** Whether a method's answer is about one object, identified by its hash. */
function namedByHash(api: CatalogApi): boolean {
  const kind = api.block_parsing?.parser_func ?? 'EMPTY'
  return /^(?:EMPTY|DEFAULT|PARSE_BY_ARG)$/.test(kind) && hashParsers(api).length > 0
}

// The catalog marks every object name as a hash, even that of an account.
function hashParsers(api: CatalogApi) {
  return (api.parsers ?? []).filter(
    (parser) => parser.parse_type === 'BLOCK_HASH' && !parser.parse_path.endsWith('address'),
  )
}

function convertDefault(api: CatalogApi, parsing: CatalogParsing): NativeBlock {
  if (hashParsers(api).length > 0) return 'none'
  const absent = tagOf(parsing.parser_arg[0]) ?? 'latest'
  const [to] = genericPlaces(api, 'BLOCK_LATEST')
  if (to === undefined) return absent
  const [from = {}] = genericPlaces(api, 'BLOCK_EARLIEST')
  const [toField, fromField] = [fieldOf(to), fieldOf(from)]
  if (toField !== null && fromField !== null)
    return { param: to.param, name: to.name, from: fromField, to: toField, default: absent }
  return { 'first-of': [to], default: absent }
}

/** Ends of a filter range. The catalog names one end; a call has `fromBlock` and `toBlock`. */
function filterRange(place: ValuePlace, absent: BlockTag) {
  if (!['toBlock', 'fromBlock'].includes(fieldOf(place) ?? '')) return null
  const { param, name } = place
  return { param, name, from: 'fromBlock', to: 'toBlock', hash: 'blockHash', default: absent }
}

function fieldOf({ field = [] }: ValuePlace): string | null {
  return field.length === 1 ? String(field[0]) : null
}

function parsedPlaces(
  api: CatalogApi,
  { parser_func: kind, parser_arg: args }: CatalogParsing,
  data: CatalogCollectionData,
): ValuePlace[] {
  const [first = '', second = '', third = ''] = args
  if (data.api_interface === 'grpc') return []
  if (data.api_interface === 'rest') {
    if (kind === 'PARSE_BY_ARG') return []
    return [restPlace(api, kind === 'PARSE_CANONICAL' ? second : first)]
  }
  if (kind === 'PARSE_BY_ARG') return [{ param: Number(first) }]
  if (kind === 'PARSE_DICTIONARY') return [{ name: first }]
  const path = args.slice(1)
  if (kind === 'PARSE_CANONICAL') return [{ param: Number(first), field: path }, ...named(path)]
  // Named params may also contain a whole block under another name.
  const whole = first === 'block_number' ? [{ name: 'block_id' }] : []
  return [{ param: Number(third) }, ...named([first]), ...whole]
}

/** The same path, for params that are one object rather than a list. */
function named([name, ...path]: readonly string[]): ValuePlace[] {
  return name === undefined ? [] : [{ name, field: path }]
}

function restPlace(api: CatalogApi, name: string): ValuePlace {
  return api.name.includes(`{${name}}`) ? { 'path-parameter': name } : { query: name }
}

/** Places listed in `parsers`, such as `.params.[0].toBlock`. */
function genericPlaces(api: CatalogApi, type: string): ValuePlace[] {
  return (api.parsers ?? [])
    .filter((parser) => parser.parse_type === type)
    .flatMap((parser): ValuePlace[] => {
      const [root, first, ...field] = parsePath(parser.parse_path)
      if (root !== 'params' || first === undefined) return []
      if (api.name.startsWith('/')) return [restPlace(api, String(first))]
      return [typeof first === 'number' ? { param: first, field } : { name: first, field }]
    })
}

function tagOf(word: string | undefined): BlockTag | null {
  const tag = blockTags.find((each) => each === word)
  return tag ?? (word === undefined ? null : (catalogBlockWords[word] ?? null))
}
