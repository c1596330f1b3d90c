// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RestError, type Route, type RouteCall } from '../rest-node.ts'
import { type MoveChain, versionsPerBlock } from './chain.ts'
import type { MoveView } from './node.ts'
import { entryJson } from './shapes.ts'

/** The ledger and its blocks. */
export const ledgerRoutes: readonly Route<MoveView>[] = [
  { verb: 'GET', path: '/', run: ({ view }) => ledgerInfo(view) },
  { verb: 'GET', path: '/-/healthy', run: () => ({ message: 'aptos-node:ok' }) },
  {
    verb: 'GET',
    path: '/estimate_gas_price',
    run: () => ({
      deprioritized_gas_estimate: 100,
      gas_estimate: 100,
      prioritized_gas_estimate: 150,
    }),
  },
  {
    verb: 'GET',
    path: '/blocks/by_height/{height}',
    run: (call) => blockAt(call, numberOf(call.segment('height'), 'block_height')),
  },
  {
    verb: 'GET',
    path: '/blocks/by_version/{version}',
    run: (call) =>
      blockAt(call, Math.floor(versionIn(call, call.segment('version')) / versionsPerBlock)),
  },
]

function ledgerInfo({ chain, head, settings }: MoveView) {
  return {
    chain_id: chain.chainId,
    epoch: '9000',
    ledger_version: String(chain.lastVersion(head)),
    oldest_ledger_version: String(settings.earliestBlock * versionsPerBlock),
    ledger_timestamp: String(chain.wallMsOf(head) * 1000),
    node_role: 'full_node',
    oldest_block_height: String(settings.earliestBlock),
    block_height: String(head),
    git_hash: '0000000000000000000000000000000000000000',
  }
}

function blockAt({ view, query }: RouteCall<MoveView>, height: number) {
  if (height > view.head)
    throw moveError(404, 'block_not_found', `Block not found by Block height(${height})`)
  if (height < view.settings.earliestBlock)
    throw moveError(410, 'block_pruned', `Block(${height}) has been pruned`)
  const { chain } = view
  const shown = view.answered(height)
  const first = shown * versionsPerBlock
  return {
    block_height: String(shown),
    block_hash: chain.blockHash(shown),
    block_timestamp: String(chain.wallMsOf(shown) * 1000),
    first_version: String(first),
    last_version: String(chain.lastVersion(shown)),
    transactions:
      query.get('with_transactions') === 'true' ? entries(chain, first, versionsPerBlock) : null,
  }
}

/** So many entries from a version on. */
export function entries(chain: MoveChain, first: number, count: number) {
  return Array.from({ length: count }, (_, at) => entryJson(chain, chain.entry(first + at)))
}

/** A version that the node has. */
export function versionIn({ view }: RouteCall<MoveView>, text: string): number {
  const version = numberOf(text, 'version')
  if (version > view.chain.lastVersion(view.head))
    throw moveError(
      404,
      'version_not_found',
      `Ledger version not found by Ledger version(${version})`,
    )
  if (version < view.settings.earliestBlock * versionsPerBlock)
    throw moveError(410, 'version_pruned', `Ledger version(${version}) has been pruned`)
  return version
}

/** The height of the state that a call asks about. */
export function stateHeight(call: RouteCall<MoveView>): number {
  const version = call.query.get('ledger_version')
  if (version === null) return call.view.answered(call.view.head)
  return call.view.answered(Math.floor(versionIn(call, version) / versionsPerBlock))
}

function numberOf(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw moveError(
    400,
    'web_framework_error',
    `failed to parse path \`${name}\`: failed to parse "string(uint64)"`,
  )
}

export function moveError(status: number, code: string, message: string): RestError {
  return new RestError(status, { message, error_code: code, vm_error_code: null })
}
