// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type NodeView, type ViewSettings, viewOf } from '../node-view.ts'
import { type RestDialect, RestNode, RestReply, type RouteCall } from '../rest-node.ts'
import { entryJson, type MoveChain, type MoveTransaction, pendingJson } from './move-chain.ts'
import { readTransaction, versionsPerBlock } from './move-chain.ts'

type MoveView = NodeView<MoveChain>
type Call = RouteCall<MoveView>

/** A node of the move chain, with REST paths below `/v1`. */
export function moveNode(chain: MoveChain, settings?: Partial<ViewSettings>): RestNode<MoveView> {
  return new RestNode(viewOf(chain, settings), dialect)
}

const dialect: RestDialect<MoveView> = {
  prefix: '/v1',
  headersOf: ({ chain, head }) => ({
    'x-aptos-chain-id': String(chain.chainId),
    'x-aptos-ledger-version': String(chain.lastVersion(head)),
    'x-aptos-ledger-oldest-version': '0',
    'x-aptos-ledger-timestampusec': String(chain.wallMsOf(head) * 1000),
    'x-aptos-epoch': '9000',
    'x-aptos-block-height': String(head),
    'x-aptos-oldest-block-height': '0',
  }),
  notFound: moveError(404, 'web_framework_error', 'Not Found'),
  routes: {
    'GET /': ({ view: { chain, head } }) => ({
      chain_id: chain.chainId,
      epoch: '9000',
      ledger_version: String(chain.lastVersion(head)),
      oldest_ledger_version: '0',
      ledger_timestamp: String(chain.wallMsOf(head) * 1000),
      node_role: 'full_node',
      oldest_block_height: '0',
      block_height: String(head),
      git_hash: '00'.repeat(20),
    }),
    'GET /estimate_gas_price': () => ({
      deprioritized_gas_estimate: 100,
      gas_estimate: 100,
      prioritized_gas_estimate: 150,
    }),
    'GET /blocks/by_height/{height}': (call) => blockAt(call, numberIn(call, 'height')),
    'GET /blocks/by_version/{version}': (call) =>
      blockAt(call, Math.floor(versionOf(call, call.segment('version')) / versionsPerBlock)),
    'GET /transactions': list,
    'GET /transactions/by_hash/{hash}': byHash,
    'GET /transactions/wait_by_hash/{hash}': byHash,
    'GET /transactions/by_version/{version}': (call) =>
      entryJson(call.view.chain, versionOf(call, call.segment('version'))),
    'POST /transactions': submit,
    'GET /accounts/{address}': (call) => {
      const address = call.segment('address').toLowerCase()
      const sent = call.view.chain.sequenceNumber(address, stateHeight(call))
      return { sequence_number: String(sent), authentication_key: address }
    },
    'GET /accounts/{address}/module/{name}': () => coinModule,
    'POST /view': view,
  },
}

const coinModule = {
  bytecode: '0xa11ceb0b',
  abi: {
    address: '0x1',
    name: 'coin',
    friends: [],
    exposed_functions: [
      {
        name: 'balance',
        visibility: 'public',
        is_entry: false,
        is_view: true,
        generic_type_params: [{ constraints: [] }],
        params: ['address'],
        return: ['u64'],
      },
    ],
    structs: [],
  },
}

/** The BCS view function that the SDK calls for balances. Its only argument is at the end. */
function view(call: Call): unknown[] {
  const { body, view: seen } = call
  if (!body.includes('balance')) throw moveError(400, 'invalid_input', 'not simulated')
  const owner = `0x${body.subarray(-32).toString('hex')}`
  return [String(seen.chain.balance(owner, stateHeight(call)))]
}

function blockAt({ view: { chain, head }, query }: Call, height: number) {
  if (height > head)
    throw moveError(404, 'block_not_found', `Block not found by Block height(${height})`)
  const first = height * versionsPerBlock
  const isWhole = query.get('with_transactions') === 'true'
  return {
    block_height: String(height),
    block_hash: chain.word('block', height),
    block_timestamp: String(chain.wallMsOf(height) * 1000),
    first_version: String(first),
    last_version: String(chain.lastVersion(height)),
    transactions: isWhole ? entries(chain, first, versionsPerBlock) : null,
  }
}

/** Ledger entries from a version on. */
function entries(chain: MoveChain, first: number, count: number) {
  return Array.from({ length: count }, (_, at) => entryJson(chain, first + at))
}

function list(call: Call) {
  const { view: seen, query } = call
  const count = Number(query.get('limit') ?? 25)
  const last = seen.chain.lastVersion(seen.head)
  const first = versionOf(call, query.get('start') ?? String(last - count + 1))
  return entries(seen.chain, first, Math.min(count, last - first + 1))
}

function byHash({ view: { chain, head }, segment }: Call) {
  const hash = segment('hash').toLowerCase()
  const placed = chain.sent(hash)
  if (placed && (placed.height === null || placed.height > head)) return pendingJson(placed.sent)
  const version = chain.find(hash, head)
  if (version !== null && version <= chain.lastVersion(head)) return entryJson(chain, version)
  throw moveError(404, 'transaction_not_found', `Transaction not found by hash(${hash})`)
}

function submit({ view: { chain, head }, body }: Call) {
  const sent: MoveTransaction = readTransaction(body)
  if (sent.chainId !== chain.chainId) throw refused('BAD_CHAIN_ID')
  const isNew = chain.sent(sent.hash) === null
  if (isNew && sent.sequenceNumber < chain.sequenceNumber(sent.sender, head))
    throw refused('SEQUENCE_NUMBER_TOO_OLD')
  chain.submit(sent.hash, sent)
  return new RestReply(202, pendingJson(sent))
}

function refused(code: string) {
  return moveError(400, 'vm_error', `Invalid transaction: Type: Validation Code: ${code}`)
}

/** Parses a version that the node has. */
function versionOf({ view: { chain, head } }: Call, text: string): number {
  if (Number(text) <= chain.lastVersion(head)) return Number(text)
  throw moveError(404, 'version_not_found', `Ledger version not found by Ledger version(${text})`)
}

function stateHeight(call: Call): number {
  const version = call.query.get('ledger_version')
  return version === null ? call.view.head : Math.floor(versionOf(call, version) / versionsPerBlock)
}

function numberIn({ segment }: Call, name: string): number {
  if (/^\d{1,15}$/.test(segment(name))) return Number(segment(name))
  throw moveError(400, 'web_framework_error', `failed to parse path \`${name}\``)
}

function moveError(status: number, code: string, message: string): RestReply {
  return new RestReply(status, { message, error_code: code, vm_error_code: null })
}
