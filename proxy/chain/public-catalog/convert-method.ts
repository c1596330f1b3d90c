// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRule, MethodSpec } from '../chain-spec.ts'
import type { CallKind, ResultPath } from '../types.ts'
import { convertBlock } from './convert-block.ts'
import type { CatalogApi, CatalogCollectionData } from './schema.ts'

/** A method of the catalog as one of ours. `tip` is where its answer tells the latest block. */
export function convertMethod(
  api: CatalogApi,
  data: CatalogCollectionData,
  tip: ResultPath | null,
): MethodSpec {
  const block = convertBlock(api, data)
  const kind = kindOf(api)
  const answersOfOneNode = api.category?.local === true
  const cacheable =
    kind === 'read' && !answersOfOneNode && api.category?.deterministic === true && said(api)
  return {
    name: api.name,
    verb: data.api_interface === 'rest' ? data.type.toUpperCase() || 'GET' : null,
    internalPath: data.internal_path,
    kind,
    block,
    addon: data.add_on === '' ? null : data.add_on,
    cost: Math.max(1, Math.round(api.compute_units)),
    cacheable,
    deterministic: kind === 'read' && !answersOfOneNode && api.category?.deterministic === true,
    byHash: isByHash(block, api),
    waitsForBlock: api.category?.hanging_api === true,
    timeoutMs: api.timeout_ms || null,
    tellsTip: tip,
  }
}

// The catalog's `local` only says that nodes answer differently. These are about what one node
// keeps for its caller, so that another node cannot answer them.
const keptByOneNode =
  /^(eth_|Filecoin\.Eth)(New\w*Filter|GetFilter(Changes|Logs)|UninstallFilter|Accounts|Sign|SignTransaction|SendTransaction)$/i
const userOperation = /^eth_sendUserOperation$/

function kindOf(api: CatalogApi): CallKind {
  const { subscription = false, stateful = 0, local = false } = api.category ?? {}
  if (subscription) return 'subscribe'
  if (keptByOneNode.test(api.name)) return 'local'
  if (userOperation.test(api.name)) return 'write'
  if (stateful === 1) return local ? 'local' : 'write'
  return 'read'
}

/** Whether the catalog says anything about the block: an entry without is not to be kept. */
function said(api: CatalogApi): boolean {
  return api.block_parsing !== undefined && api.block_parsing.parser_func !== 'EMPTY'
}

function isByHash(block: BlockRule, api: CatalogApi): boolean {
  if (block.kind === 'point' && block.form === 'hash') return true
  return (api.parsers ?? []).some((parser) => parser.parse_type === 'BLOCK_HASH')
}
