// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { ChainInterface } from '../../chain/types.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { noDirectives } from '../../relay/directives.ts'
import { makeJsonRpcCall, type JsonRpcCall } from './jsonrpc-call.ts'
import { RequestRefused, readRequest } from './jsonrpc-request.ts'

let iface: ChainInterface

beforeAll(async () => {
  iface = (await loadCatalog([])).find('ETH1')?.interfaces.get('jsonrpc') as ChainInterface
})

const a = `"0x${'a1'.repeat(20)}"`
const b = `"0x${'b2'.repeat(20)}"`
const hash = `"0x${'c3'.repeat(32)}"`

/** @returns the call, or what the refusal says */
function made(method: string, params: string): JsonRpcCall | string {
  const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`)
  const signal = new AbortController().signal
  const origin = { directives: noDirectives, requestHeaders: [], internalPath: '', signal }
  try {
    const request = readRequest(body, { start: 0, end: body.length })
    return makeJsonRpcCall(request, origin, 'guid', { iface, clock: systemClock })
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error
    expect(error.kind.jsonRpcCode).toBe(-32602)
    return error.message
  }
}

test.each([
  ['eth_getLogs', `[{"address":${a},"ADDRESS":${b}}]`, '"address" and "ADDRESS"'],
  ['eth_getLogs', `[{"address":${a},"address":${b}}]`, '"address" twice'],
  ['eth_getLogs', `[{"toBlock":"0x1","TOBLOCK":"0x2"}]`, '"toBlock" and "TOBLOCK"'],
  [
    'eth_getLogs',
    `[{"fromBloc\u212a":"0x1","fromBlock":"0x2"}]`,
    '"fromBloc\u212a" and "fromBlock"',
  ],
  ['eth_getLogs', `[{"addre\u017fs":${b},"address":${a}}]`, '"addre\u017fs" and "address"'],
  ['eth_getLogs', `[{"\\u0061ddress":${a},"address":${b}}]`, '"address" twice'],
  ['eth_getLogs', `[{"topics":[],"Topics":[]}]`, '"topics" and "Topics"'],
  ['eth_getBlockReceipts', `[{"blockNumber":"0x1","BLOCKNUMBER":"0x2"}]`, '"BLOCKNUMBER"'],
  ['eth_getBalance', `[${a},{"blockHash":${hash},"blockhash":${hash}}]`, '"blockhash"'],
  ['eth_subscribe', `["logs",{"address":${a},"Address":${b}}]`, '"address" and "Address"'],
  ['eth_call', `[{"to":${a},"TO":${b}},"latest"]`, '"to" and "TO"'],
])('%s %s has two readings', (method, params, why) => {
  expect(made(method, params)).toContain(why)
})

test.each([
  ['names of which the router reads none', 'eth_signTypedData', `[${a},{"name":1,"Name":2}]`],
  ['a method that no spec names', 'foo_bar', '[{"a":1,"A":2}]'],
  ['texts and numbers', 'eth_getBalance', `[${a},"latest"]`],
  ['objects beside each other', 'eth_call', `[{"to":${a}},{"blockNumber":"0x1"}]`],
])('%s are relayed', (_, method, params) => {
  expect(typeof made(method, params)).toBe('object')
})

test('a long name is shown in short', () => {
  const name = 'x'.repeat(100_000)
  const why = made('eth_getLogs', `[{"${name}":1,"${name}":2}]`)
  expect((why as string).length).toBeLessThan(200)
})

test.each([
  ['eth_getLogs', `[{"FROMBLOCK":"0x1","toBlock":"0x5"}]`],
  ['eth_getLogs', `[{"fromBlock":"0x1","toblock":"0x5"}]`],
  ['eth_getLogs', `[{"BLOCKHASH":${hash}}]`],
  ['eth_getBlockReceipts', `[{"BlockNumber":"0x1"}]`],
  ['eth_getBalance', `[${a},{"blockhash":${hash}}]`],
  ['eth_getBalance', `[${a},{"blockNumber":"0x1","BLOCKHASH":${hash}}]`],
])('of %s %s it is not known which block is meant', (method, params) => {
  expect(made(method, params)).toMatchObject({ asked: { block: { kind: 'invalid' } } })
})

test('what is asked for is read as a node reads it that takes names in any case, or not at all', () => {
  const names = ['fromBlock', 'toBlock', 'address', 'topics', 'other']
  const spelling = fc
    .tuple(fc.constantFrom(...names), fc.nat(1), fc.nat(12), fc.nat(3))
    .map(([name, isOther, at, how]) => {
      const letter = name[at % name.length] as string
      const odd = { s: '\u017f', k: '\u212a' }[letter.toLowerCase()] ?? letter.toUpperCase()
      const other =
        how === 0
          ? odd
          : letter === letter.toUpperCase()
            ? letter.toLowerCase()
            : letter.toUpperCase()
      const put = isOther === 1 ? other : letter
      const written = how === 1 ? `\\u${put.charCodeAt(0).toString(16).padStart(4, '0')}` : put
      const cut = at % name.length
      return {
        name,
        isExact: put === letter,
        text: name.slice(0, cut) + written + name.slice(cut + 1),
      }
    })
  const value = fc.constantFrom('"0x1"', '"0x7"', '"latest"', a, b, '[]', 'null')
  fc.assert(
    fc.property(fc.array(fc.tuple(spelling, value), { maxLength: 6 }), (entries) => {
      const text = entries.map(([{ text: name }, each]) => `"${name}":${each}`).join()
      const call = made('eth_getLogs', `[{${text}}]`)
      const wanted = entries.map(([{ name }]) => name)
      const isDouble = new Set(wanted).size < wanted.length
      expect(typeof call).toBe(isDouble ? 'string' : 'object')
      if (isDouble) return
      const ends = entries.filter(([{ name }]) => name === 'fromBlock' || name === 'toBlock')
      if (ends.some(([{ isExact }]) => !isExact)) {
        expect(call).toMatchObject({ asked: { block: { kind: 'invalid' } } })
        return
      }
      // Members that are spelled right mean what they say, whatever the others are called.
      const plain = entries.filter(([{ isExact }]) => isExact)
      const same = made(
        'eth_getLogs',
        `[{${plain.map(([{ name }, v]) => `"${name}":${v}`).join()}}]`,
      )
      expect((call as JsonRpcCall).asked.block).toEqual((same as JsonRpcCall).asked.block)
    }),
    { numRuns: 2_000 },
  )
})
