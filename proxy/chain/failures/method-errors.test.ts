// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { ClassifiedChain } from '../testing/classified-chain.ts'
import type { FailureClass } from '../failure-table.ts'
import type { MethodSpec } from '../types.ts'
import { compileFailures } from './compile-failures.ts'
import { failureFileSchema } from './schema.ts'

const catalog = await loadCatalog([])
const bundled = (id: string) => new ClassifiedChain(catalog.find(id)!)
const chains = {
  evm: bundled('ETH1'),
  perp: bundled('PERPEVM'),
  bitcoin: bundled('BTC'),
  slot: bundled('SLOTCHAIN'),
  hub: bundled('HUBCHAIN'),
  move: bundled('MOVECHAIN'),
}
const revert = [3, 'execution reverted: no'] as const
const params = [-32602, 'Invalid params'] as const
const nonce = [-32000, 'nonce too low: next nonce 5, tx nonce 4'] as const
const funds = [-32000, 'insufficient funds for gas * price + value'] as const

/** The failure class of a read's error in the chain's table. */
function classOf(chain: keyof typeof chains, method: string, error: readonly [number, string]) {
  const [code, message] = error
  return chains[chain].chain.failures.ofNodeError({ status: 200, code, message }, method)
}

describe('a limit whose words name a method is that of this method', () => {
  const perSecond = 'eth_getLogs is limited to 10 requests per second'
  const perDay = 'daily request count exceeded for getProgramAccounts'
  test.each<[string, keyof typeof chains, string, readonly [number, string], string | null]>([
    ['the called one', 'evm', 'eth_getLogs', [-32005, perSecond], 'call'],
    ['in a quota', 'slot', 'getProgramAccounts', [-32000, perDay], 'call'],
    ['another one', 'evm', 'eth_call', [-32005, perSecond], 'rate'],
    ['a longer one', 'evm', 'eth_getLog', [-32005, perSecond], 'rate'],
    ['an ordinary word', 'hub', 'block', [-32000, 'block rate limit exceeded'], 'rate'],
    ['none', 'evm', 'eth_getLogs', [-32005, 'Too many requests'], 'rate'],
    ['without a limit', 'evm', 'eth_call', [3, 'execution reverted: eth_call'], null],
  ])('%s', (_case, chain, method, error, limit) => {
    expect(classOf(chain, method, error).limit).toBe(limit)
  })
})

describe('an error of one method', () => {
  test.each<[keyof typeof chains, string, readonly [number, string], string]>([
    ['evm', 'eth_call', revert, 'execution-reverted'],
    ['evm', 'eth_call', funds, 'insufficient-funds'],
    ['evm', 'eth_callMany', revert, 'execution-reverted'],
    ['evm', 'eth_callBundle', nonce, 'nonce-too-low'],
    ['evm', 'eth_estimateGas', [-32000, 'gas required exceeds allowance (5)'], 'gas-limit'],
    ['evm', 'eth_createAccessList', revert, 'execution-reverted'],
    ['evm', 'eth_simulateV1', [-38014, 'err: insufficient funds'], 'simulation-rejected'],
    ['evm', 'eth_fillTransaction', funds, 'insufficient-funds'],
    ['evm', 'debug_traceCall', revert, 'execution-reverted'],
    ['evm', 'trace_call', revert, 'execution-reverted'],
    ['evm', 'trace_replayTransaction', revert, 'execution-reverted'],
    [
      'evm',
      'eth_estimateUserOperationGas',
      [-32500, "AA21 didn't pay prefund"],
      'user-operation-rejected',
    ],
    ['evm', 'zks_estimateFee', revert, 'execution-reverted'],
    ['evm', 'eth_getBalance', params, 'invalid-argument'],
    ['evm', 'eth_getLogs', [-32602, 'no'], 'invalid-params'],
    ['evm', 'eth_getLogs', [-32000, 'invalid block range params'], 'block-range-inverted'],
    ['evm', 'eth_getBlockByHash', [-32602, 'invalid argument 0: hex'], 'malformed-argument'],
    ['evm', 'eth_getTransactionByHash', [-32000, 'invalid transaction hash'], 'invalid-argument'],
    ['bitcoin', 'testmempoolaccept', [-26, 'dust'], 'not-standard'],
    ['bitcoin', 'decoderawtransaction', [-22, 'TX decode failed'], 'transaction-unreadable'],
    ['bitcoin', 'getblock', [-22, 'Argument must be hexadecimal string'], 'invalid-params'],
    ['bitcoin', 'getblock', [-8, 'blockhash must be of length 64'], 'invalid-params'],
    ['bitcoin', 'getaddednodeinfo', [-24, 'Node has not been added.'], 'peer-command'],
    [
      'slot',
      'simulateTransaction',
      [-32003, 'Transaction signature verification failure'],
      'transaction-invalid',
    ],
    ['slot', 'getBalance', [-32602, 'Invalid param: WrongSize'], 'invalid-param'],
    ['hub', 'abci_query', [2, 'query wasm contract failed: no'], 'contract-failed'],
    ['hub', 'check_tx', [13, 'insufficient fee'], 'insufficient-fee'],
    ['hub', 'block', [-32603, 'Internal error: height must be greater than 0'], 'invalid-request'],
    ['move', '/transactions/simulate', [0, 'vm error'], 'transaction-rejected'],
  ])('%s: %s says %j', (chain, method, error, name) => {
    expect(classOf(chain, method, error).name).toBe(name)
  })
})

describe('text that a caller may have chosen', () => {
  const bad = 'rate limit exceeded'
  test.each<[string, number, number, string, Partial<FailureClass>]>([
    ['eth_call', 200, -32000, bad, { cooldown: false, weight: 0, retry: true }],
    ['debug_traceCall', 200, -32000, `${bad} at tracer`, { cooldown: false, weight: 0 }],
    ['debug_traceTransaction', 200, -32000, 'panic: no', { cooldown: false, weight: 0 }],
    ['trace_call', 200, -32000, 'socket hang up', { cooldown: false, weight: 0 }],
    ['eth_estimateGas', 200, -32000, 'Unauthorized', { cooldown: false, weight: 0 }],
    ['eth_sendBundle', 200, -32000, bad, { cooldown: false, weight: 0 }],
    ['my_callOfNoSpec', 200, -32000, bad, { cooldown: false, weight: 0 }],
    ['eth_getBalance', 200, -32000, bad, { cooldown: true }],
    ['eth_getBalance', 200, -32000, 'socket hang up', { weight: 1 }],
    // The message quotes the params.
    ['eth_getBalance', 200, -32602, `invalid block: ${bad}`, { cooldown: false, origin: 'caller' }],
    // Codes and statuses come from the node.
    ['eth_call', 200, -32005, bad, { cooldown: true }],
    ['eth_call', 200, 429, bad, { cooldown: true }],
    ['debug_traceCall', 429, -32000, bad, { cooldown: true }],
    ['debug_traceCall', 503, -32000, bad, { weight: 1 }],
    ['eth_call', 200, -32603, 'Internal error', { weight: 1 }],
    // A text about the call keeps its meaning.
    ['eth_call', 200, -32000, 'header not found', { name: 'header-not-found', weight: 0 }],
  ])('%s: HTTP %i, %i %s', (method, status, code, message, expected) => {
    const { runsCallerCode } = chains.evm.jsonrpc(method)
    const { failures } = chains.evm.chain
    const found = failures.ofNodeError({ status, code, message }, method, runsCallerCode)
    expect(found).toMatchObject(expected)
  })

  test.each<[string, MethodSpec, boolean]>([
    ['simulateTransaction', chains.slot.jsonrpc('simulateTransaction', []), true],
    ['getBalance', chains.slot.jsonrpc('getBalance', []), false],
    ['abci_query', chains.hub.tendermint('abci_query', {}), true],
    ['status', chains.hub.tendermint('status', {}), false],
    ['smart', chains.hub.rest('GET /cosmwasm/wasm/v1/contract/a/smart/b'), true],
    ['simulate', chains.hub.grpc('cosmos.tx.v1beta1.Service/Simulate'), true],
    ['supply', chains.hub.rest('GET /cosmos/bank/v1beta1/supply'), false],
    ['view', chains.move.rest('POST /view'), true],
    ['a transaction simulated', chains.move.rest('POST /v1/transactions/simulate'), true],
    ['accounts', chains.move.rest('GET /accounts/0x1'), false],
  ])('%s', (_, { runsCallerCode = false }, expected) => {
    expect(runsCallerCode).toBe(expected)
  })
})

describe('a row for some methods', () => {
  const row = {
    ...{ name: 'x', origin: 'node', code: [7], 'only-for': ['my_trace*', 'my_logs'] },
    examples: [{ message: 'm', method: 'my_logs', from: 'test' }],
  }
  const table = compileFailures([
    failureFileSchema.parse({ failures: 'own', 'node-errors': [row] }),
  ])

  it.each([
    ['my_logs', 'x'],
    ['my_traceBlock', 'x'],
    ['my_logsOfBlock', 'unknown-error'],
    ['other', 'unknown-error'],
    [null, 'unknown-error'],
  ])('%s: %s', (method, name) => {
    expect(table.ofNodeError({ status: 200, code: 7, message: '' }, method).name).toBe(name)
  })

  it.each(['a*b', '*', ''])('refuses the name "%s"', (name) => {
    const own = { failures: 't', 'node-errors': [{ ...row, 'only-for': [name] }] }
    const checked = failureFileSchema.safeParse(own)
    expect(JSON.stringify(checked.error?.issues)).toContain('its beginning and `*`')
  })

  // The limit on one wide query must not stop all other traffic to the URL.
  it('a limit on a log query starts no cooldown', () => {
    const limit = [-32005, 'limit exceeded'] as const
    expect(classOf('evm', 'eth_getLogs', limit)).toMatchObject({ retry: true, cooldown: false })
    expect(classOf('evm', 'eth_getBalance', limit)).toMatchObject({ retry: true, cooldown: true })
  })
})
