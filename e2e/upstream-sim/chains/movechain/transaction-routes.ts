// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Route, RouteCall } from '../rest-node.ts'
import { gasUnitPrice, gasUsed } from './chain.ts'
import { entries, moveError, versionIn } from './ledger-routes.ts'
import type { MoveView } from './node.ts'
import { entryJson, pendingJson } from './shapes.ts'
import { type MoveTransaction, readTransaction } from './transaction.ts'

const signedTransaction = 'application/x.aptos.signed_transaction+bcs'
const mostEntries = 100

/** Transactions: reading and sending them. */
export const transactionRoutes: readonly Route<MoveView>[] = [
  { verb: 'GET', path: '/transactions', run: list },
  { verb: 'GET', path: '/transactions/by_hash/{hash}', run: byHash },
  { verb: 'GET', path: '/transactions/wait_by_hash/{hash}', run: byHash },
  {
    verb: 'GET',
    path: '/transactions/by_version/{version}',
    run: (call) => {
      const version = versionIn(call, call.segment('version'))
      return entryJson(call.view.chain, call.view.chain.entry(call.view.answered(version)))
    },
  },
  {
    verb: 'GET',
    path: '/accounts/{address}/transactions',
    run: ({ view, segment }) =>
      view.chain
        .sentUpTo(view.head)
        .filter(({ sender }) => sender === segment('address'))
        .map(({ hash }) => view.chain.find(hash, view.head))
        .filter((entry) => entry !== null)
        .map((entry) => entryJson(view.chain, entry)),
  },
  { verb: 'POST', path: '/transactions', status: 202, run: submit },
  {
    verb: 'POST',
    path: '/transactions/simulate',
    run: (call) => {
      const { hash, ...fields } = pendingJson(read(call))
      const outcome = {
        success: true,
        vm_status: 'Executed successfully',
        gas_used: String(gasUsed),
      }
      const price = { gas_unit_price: String(gasUnitPrice) }
      return [
        {
          ...fields,
          ...outcome,
          ...price,
          hash,
          type: 'user_transaction',
          version: '0',
          changes: [],
          events: [],
        },
      ]
    },
  },
]

function list(call: RouteCall<MoveView>) {
  const { view, query } = call
  const limit = Math.min(mostEntries, Number(query.get('limit') ?? 25))
  const last = view.chain.lastVersion(view.head)
  const start = query.get('start')
  const first = start === null ? last - limit + 1 : versionIn(call, start)
  return entries(view.chain, first, Math.min(limit, last - first + 1))
}

function byHash({ view, segment }: RouteCall<MoveView>) {
  const hash = segment('hash').toLowerCase()
  const placed = view.chain.sent(hash)
  if (placed && (placed.height === null || placed.height > view.head))
    return pendingJson(placed.sent)
  const entry = view.chain.find(hash, view.head)
  if (entry === null || entry.height > view.head)
    throw moveError(
      404,
      'transaction_not_found',
      `Transaction not found by Transaction hash(${hash})`,
    )
  return entryJson(view.chain, view.chain.entry(view.answered(entry.version)))
}

function submit(call: RouteCall<MoveView>) {
  const sent = read(call)
  const { chain, head } = call.view
  if (sent.chainId !== chain.chainId) throw refused('BAD_CHAIN_ID')
  if (chain.sent(sent.hash) === null) {
    const next = chain.sequenceNumber(sent.sender, head)
    if (sent.sequenceNumber < next) throw refused('SEQUENCE_NUMBER_TOO_OLD')
    chain.submit(sent.hash, sent)
  }
  return pendingJson(sent)
}

function refused(code: string) {
  return moveError(400, 'vm_error', `Invalid transaction: Type: Validation Code: ${code}`)
}

function read({ body, contentType }: RouteCall<MoveView>): MoveTransaction {
  if (!contentType.startsWith(signedTransaction))
    throw moveError(415, 'web_framework_error', 'the content type is not simulated here')
  try {
    return readTransaction(body)
  } catch (cause) {
    const message = 'Failed to deserialize input into SignedTransaction'
    throw Object.assign(moveError(400, 'invalid_input', message), { cause })
  }
}
