// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { MethodSpec } from '../chain-spec.ts'
import type { CallKind, ResultPath, StatefulUse } from '../types.ts'
import { convertBlock, namedByHash } from './convert-block.ts'
import { ethereumChecks } from './ethereum-checks.ts'
import type { CatalogApi, CatalogCollectionData } from './schema.ts'

/** A method of the catalog as one of ours. `tip` is where its answer tells the latest block. */
export function convertMethod(
  api: CatalogApi,
  data: CatalogCollectionData,
  tip: ResultPath | null,
): MethodSpec {
  // What a REST call has in its body is not looked at.
  const inBody = data.api_interface === 'rest' && data.type.toUpperCase() === 'POST'
  const kind = kindOf(api, inBody)
  const deterministic =
    kind === 'read' && api.category?.deterministic === true && !api.category.local
  const saysBlock = api.block_parsing !== undefined && api.block_parsing.parser_func !== 'EMPTY'
  return {
    name: api.name,
    verb: data.api_interface === 'rest' ? data.type.toUpperCase() || 'GET' : null,
    internalPath: data.internal_path,
    kind,
    stateful: statefulUse(api.name),
    block: inBody ? { kind: 'fixed', block: 'none' } : convertBlock(api, data),
    addon: data.add_on === '' ? null : data.add_on,
    cost: Math.max(1, Math.round(api.compute_units)),
    cacheable: deterministic && saysBlock && !inBody,
    deterministic,
    byHash: namedByHash(api),
    waitsForBlock: api.category?.hanging_api === true,
    timeoutMs: api.timeout_ms || null,
    tellsTip: tip,
    behindTip: {},
    checks: data.api_interface === 'jsonrpc' ? ethereumChecks(api.name) : [],
    answersJson: !page.test(api.name),
    refusal: null,
  }
}

// The catalog's `local` only says that nodes answer differently. These are about what one node
// keeps for its caller, so that another node cannot answer them.
const keptByOneNode =
  /^(eth_|Filecoin\.Eth)(New\w*Filter|GetFilter(Changes|Logs)|UninstallFilter|Accounts|Sign|SignTransaction|SendTransaction)$/i
// Pages for people and their tools; the catalog does not tell them from the others.
const page = /\/(spec(\.\w+)?|health\w*|metrics|openapi[^/]*|swagger[^/]*|ping|version)\/?$/i
// Broadcasts that the catalog takes for reads.
const broadcast = /^eth_sendUserOperation$/
const broadcastPath = /^\/transactions(\/batch)?$/

const filters: readonly (readonly [StatefulUse, RegExp])[] = [
  ['creates', /^(eth_|Filecoin\.Eth)New\w*Filter$/i],
  ['uses', /^(eth_|Filecoin\.Eth)GetFilter(Changes|Logs)$/i],
  ['ends', /^(eth_|Filecoin\.Eth)UninstallFilter$/i],
]

function statefulUse(name: string): StatefulUse | null {
  return filters.find(([, pattern]) => pattern.test(name))?.[0] ?? null
}

function kindOf(api: CatalogApi, inBody: boolean): CallKind {
  const { subscription = false, stateful = 0, local = false } = api.category ?? {}
  if (subscription) return 'subscribe'
  if (keptByOneNode.test(api.name)) return 'local'
  if (broadcast.test(api.name) || (inBody && broadcastPath.test(api.name))) return 'write'
  if (stateful === 1) return local ? 'local' : 'write'
  return 'read'
}
