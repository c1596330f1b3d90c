// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../checks.ts'
import type { NativeMethod } from '../native/schema.ts'
import type { CallKind, StatefulUse } from '../types.ts'
import { convertBlock, namedByHash } from './convert-block.ts'
import type { CatalogApi, CatalogCollectionData } from './schema.ts'

/** A method of the catalog as one of ours. `tip` is where its answer tells the latest block. */
export function convertMethod(
  api: CatalogApi,
  data: CatalogCollectionData,
  tip: NativeMethod['tells-tip'],
): NativeMethod {
  // What a REST call has in its body is not looked at.
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
    cost: Math.max(1, Math.round(api.compute_units)),
    cacheable: deterministic && saysBlock && !inBody,
    deterministic,
    'by-hash': namedByHash(api),
    'waits-for-block': api.category?.hanging_api === true,
    timeout: api.timeout_ms ? `${api.timeout_ms}ms` : undefined,
    'tells-tip': tip,
    checks: data.api_interface === 'jsonrpc' ? ethereumChecks.get(api.name) : [],
    answer: page.test(api.name) ? 'any' : 'json',
  }
}

// The catalog's `local` only says that nodes answer differently. These are about what one node
// keeps for its caller, so that another node cannot answer them.
const keptByOneNode =
  /^(eth_|Filecoin\.Eth)(New\w*Filter|GetFilter(Changes|Logs)|UninstallFilter|Accounts|Sign|SignTransaction|SendTransaction)$/i
const filters: readonly (readonly [StatefulUse, RegExp])[] = [
  ['creates', /^(eth_|Filecoin\.Eth)New\w*Filter$/i],
  ['uses', /^(eth_|Filecoin\.Eth)GetFilter(Changes|Logs)$/i],
  ['ends', /^(eth_|Filecoin\.Eth)UninstallFilter$/i],
]
// Pages for people and their tools; the catalog does not tell them from the others.
const page = /\/(spec(\.\w+)?|health\w*|metrics|openapi[^/]*|swagger[^/]*|ping|version)\/?$/i
// Broadcasts that the catalog takes for reads.
const broadcast = /^eth_sendUserOperation$/
const broadcastPath = /^\/transactions(\/batch)?$/

function kindOf(api: CatalogApi, inBody: boolean): CallKind {
  const { subscription = false, stateful = 0, local = false } = api.category ?? {}
  if (subscription) return 'subscribe'
  if (keptByOneNode.test(api.name)) return 'local'
  if (broadcast.test(api.name) || (inBody && broadcastPath.test(api.name))) return 'write'
  if (stateful === 1) return local ? 'local' : 'write'
  return 'read'
}

const identity = (member: string): CheckRule => ({ check: 'identity', param: 0, result: [member] })

/** The catalog has no checks. These hold on every chain that speaks Ethereum's JSON-RPC. */
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
