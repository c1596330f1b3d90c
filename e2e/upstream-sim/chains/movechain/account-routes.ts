// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../../hex.ts'
import type { Route, RouteCall } from '../rest-node.ts'
import { moveError, stateHeight } from './ledger-routes.ts'
import type { MoveView } from './node.ts'

const coin = '0x1::aptos_coin::AptosCoin'
const coinStore = `0x1::coin::CoinStore<${coin}>`

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

/** Accounts and view functions. */
export const accountRoutes: readonly Route<MoveView>[] = [
  { verb: 'GET', path: '/accounts/{address}', run: (call) => account(call) },
  { verb: 'GET', path: '/accounts/{address}/resources', run: (call) => resources(call) },
  {
    verb: 'GET',
    path: '/accounts/{address}/resource/{type}',
    run: (call) => {
      const type = decodeURIComponent(call.segment('type'))
      const found = resources(call).find((resource) => resource.type === type)
      if (found) return found
      throw moveError(
        404,
        'resource_not_found',
        `Resource not found by Address(${call.segment('address')}), Struct tag(${type}) and Ledger version`,
      )
    },
  },
  { verb: 'GET', path: '/accounts/{address}/modules', run: () => [coinModule] },
  {
    verb: 'GET',
    path: '/accounts/{address}/module/{name}',
    run: ({ segment }) => {
      if (segment('name') === coinModule.abi.name) return coinModule
      throw moveError(404, 'module_not_found', 'Module not found by Address and Module name')
    },
  },
  {
    verb: 'GET',
    path: '/accounts/{address}/balance/{asset}',
    run: (call) => call.view.chain.balance(addressOf(call), stateHeight(call)),
  },
  { verb: 'POST', path: '/view', run: (call) => view(call) },
]

/** The view function that clients ask for balances, in JSON or in BCS. */
function view(call: RouteCall<MoveView>): unknown[] {
  const { view: seen, body, contentType } = call
  if (contentType.startsWith('application/x.aptos.view_function+bcs')) {
    if (!body.includes('balance')) throw notSimulated('')
    // The one argument is an address, which is the end of the bytes.
    const owner = `0x${body.subarray(-32).toString('hex')}`
    return [String(seen.chain.balance(owner, stateHeight(call)))]
  }
  const asked = JSON.parse(body.toString()) as { function?: string; arguments?: unknown[] }
  const [owner] = asked.arguments ?? []
  if (asked.function === '0x1::coin::balance' && typeof owner === 'string')
    return [String(seen.chain.balance(longAddress(owner), stateHeight(call)))]
  throw notSimulated(asked.function ?? '')
}

function notSimulated(name: string) {
  return moveError(400, 'invalid_input', `Function ${name} is not simulated`)
}

function account(call: RouteCall<MoveView>) {
  const address = addressOf(call)
  const number = call.view.chain.sequenceNumber(address, stateHeight(call))
  return { sequence_number: String(number), authentication_key: address }
}

function resources(call: RouteCall<MoveView>) {
  const { chain } = call.view
  const address = addressOf(call)
  const height = stateHeight(call)
  return [
    {
      type: '0x1::account::Account',
      data: {
        authentication_key: address,
        sequence_number: String(chain.sequenceNumber(address, height)),
        guid_creation_num: String(digest(chain.seed, address).readUInt8(0)),
      },
    },
    {
      type: coinStore,
      data: { coin: { value: String(chain.balance(address, height)) }, frozen: false },
    },
  ]
}

function addressOf(call: RouteCall<MoveView>): string {
  return longAddress(call.segment('address'))
}

function longAddress(text: string): string {
  if (!/^0x[0-9a-f]{1,64}$/i.test(text))
    throw moveError(
      400,
      'web_framework_error',
      'failed to parse path `address`: failed to parse "string(Address)"',
    )
  return `0x${text.slice(2).toLowerCase().padStart(64, '0')}`
}
