// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { loadCatalog } from '../load-catalog.ts'
import { otherNames } from '../compile/probe.ts'
import { AskedChain } from '../testing/asked-chain.ts'
import { everyInterface } from '../testing/every-interface.ts'
import { knownRead } from '../testing/known-read.ts'
import { compileFailures } from './compile-failures.ts'
import { failureFileSchema } from './schema.ts'

const catalog = await loadCatalog([])
const bundled = (id: string) => new AskedChain(catalog.find(id)!)
const chains = {
  evm: bundled('ETH1'),
  perp: bundled('PERPEVM'),
  bitcoin: bundled('BTC'),
  slot: bundled('SLOTCHAIN'),
  hub: bundled('HUBCHAIN'),
  move: bundled('MOVECHAIN'),
}
const misplaced = 'error-out-of-place'
const revert = [3, 'execution reverted: no'] as const
const params = [-32602, 'Invalid params'] as const
const nonce = [-32000, 'nonce too low: next nonce 5, tx nonce 4'] as const
const funds = [-32000, 'insufficient funds for gas * price + value'] as const

/** What the chain's table makes of an error about a read. */
function classOf(chain: keyof typeof chains, method: string, error: readonly [number, string]) {
  const [code, message] = error
  return chains[chain].chain.failures.ofNodeError(
    { status: 200, code, message },
    undefined,
    knownRead(method),
  )
}

describe('an error that such a read cannot have', () => {
  test.each<[keyof typeof chains, string, readonly [number, string]]>([
    ['evm', 'eth_chainId', revert],
    ['evm', 'eth_chainId', params],
    ['evm', 'eth_chainId', [-32602, 'too many arguments, want at most 0']],
    ['evm', 'eth_chainId', [-32000, 'both gasPrice and maxFeePerGas specified']],
    ['evm', 'eth_chainId', nonce],
    ['evm', 'eth_blockNumber', params],
    ['evm', 'eth_gasPrice', params],
    ['evm', 'net_version', params],
    ['evm', 'web3_clientVersion', params],
    ['evm', 'eth_syncing', params],
    ['evm', 'eth_getCode', revert],
    ['evm', 'eth_getLogs', [3, '0x']],
    ['evm', 'eth_getBlockByNumber', revert],
    ['evm', 'eth_getBlockByNumber', [-32000, 'filter not found']],
    ['evm', 'eth_getBlockReceipts', [-32000, 'out of gas']],
    ['evm', 'eth_getTransactionReceipt', nonce],
    ['evm', 'eth_getTransactionByHash', [-32000, 'already known']],
    ['evm', 'eth_getBalance', funds],
    ['evm', 'eth_getBalance', [-32000, 'unknown account']],
    ['evm', 'eth_getBalance', [-32500, "AA21 didn't pay prefund"]],
    ['evm', 'eth_getStorageAt', [-32003, 'Transaction rejected']],
    ['evm', 'eth_feeHistory', [-32000, 'transaction underpriced']],
    ['perp', 'eth_getBalance', revert],
    ['bitcoin', 'getblockcount', [-8, 'Block height negative']],
    ['bitcoin', 'getblock', [-26, 'dust']],
    ['bitcoin', 'getrawtransaction', [-27, 'Transaction already in block chain']],
    ['bitcoin', 'estimatesmartfee', [-26, 'min relay fee not met, 0 < 141']],
    ['slot', 'getBalance', [-32002, 'Transaction simulation failed: Blockhash not found']],
    ['slot', 'getVersion', [-32602, 'Invalid param: WrongSize']],
    ['slot', 'getBlock', [-32003, 'Transaction signature verification failure']],
    ['hub', 'block', [19, 'tx already exists in cache']],
    ['hub', 'status', [-32602, 'error converting json params to arguments']],
    ['hub', 'validators', [32, 'account sequence mismatch, expected 5, got 4']],
    ['move', '/blocks/by_height/{height}', [0, 'vm error']],
    ['move', '/accounts/{address}', [0, 'Invalid transaction: SEQUENCE_NUMBER_TOO_OLD']],
  ])('%s: %s says %j', (chain, method, error) => {
    const found = classOf(chain, method, error)
    expect(found).toMatchObject({ name: misplaced, doubtful: true, retry: true, weight: 0 })
    expect([found.whose, found.holdOff, found.reported]).toEqual(['node', false, false])
  })

  it('costs score only where no client can have brought it about', () => {
    expect(classOf('evm', 'eth_chainId', params).costsScore).toBe(false)
    expect(classOf('evm', 'eth_chainId', revert).costsScore).toBe(true)
    expect(classOf('evm', 'eth_getLogs', revert).costsScore).toBe(true)
  })

  it('is what a later row makes of it, where one knows it', () => {
    expect(classOf('evm', 'eth_getLogs', [3, 'execution reverted: header not found']).name).toBe(
      'header-not-found',
    )
    expect(classOf('evm', 'eth_chainId', [-32602, 'hex string, rate limit']).name).toBe(
      'rate-limited',
    )
  })
})

describe('an error that such a read may well have', () => {
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
    ['bitcoin', 'decoderawtransaction', [-22, 'TX decode failed'], 'transaction-rejected'],
    ['bitcoin', 'getblock', [-22, 'Argument must be hexadecimal string'], 'invalid-params'],
    ['bitcoin', 'getblock', [-8, 'blockhash must be of length 64'], 'invalid-params'],
    ['bitcoin', 'getaddednodeinfo', [-24, 'Node has not been added.'], 'peer-command'],
    ['slot', 'simulateTransaction', [-32003, 'signature'], 'transaction-invalid'],
    ['slot', 'getBalance', [-32602, 'Invalid param: WrongSize'], 'invalid-param'],
    ['hub', 'abci_query', [2, 'query wasm contract failed: no'], 'contract-failed'],
    ['hub', 'check_tx', [13, 'insufficient fee'], 'insufficient-fee'],
    ['hub', 'block', [-32603, 'Internal error: height must be greater than 0'], 'invalid-request'],
    ['move', '/transactions/simulate', [0, 'vm error'], 'transaction-rejected'],
  ])('%s: %s says %j', (chain, method, error, name) => {
    expect(classOf(chain, method, error).name).toBe(name)
  })

  it('is any, where it is not known which read it is', () => {
    const error = { status: 200, code: 3, message: 'execution reverted' }
    expect(chains.evm.chain.failures.ofNodeError(error).name).toBe('execution-reverted')
  })
})

it.each([
  ['sdk', chains.hub],
  ['cosmos', chains.hub],
])('a read has the same errors under each of its names: %s', (prefix, { chain }) => {
  const asked = [
    chains.hub.grpc(`${prefix}.base.tendermint.v1beta1.Service/GetLatestBlock`),
    chains.hub.rest(`GET /${prefix}/base/tendermint/v1beta1/blocks/latest`),
  ]
  for (const { method, known } of asked) {
    const error = { status: 200, code: 32, message: 'incorrect account sequence' }
    expect(known).toBe(true)
    expect(chain.failures.ofNodeError(error, undefined, knownRead(method)).name).toBe(misplaced)
  }
})

const folder = new URL('../../../specs/failures/', import.meta.url)
const tables = readdirSync(folder).map((name) =>
  failureFileSchema.parse(parse(readFileSync(new URL(name, folder), 'utf8'))),
)
const catalogs = ['../testdata/catalog', '../testdata/own-catalog']
const offered = [
  ...(await everyInterface([])),
  ...(await everyInterface(catalogs.map((each) => fileURLToPath(new URL(each, import.meta.url))))),
]

describe.each(tables.filter(({ reads }) => reads))('the reads of the table $failures', (table) => {
  const family = table.failures
  const known = new Set(
    offered
      .filter(({ chain }) => chain.family === family)
      .flatMap(({ offered: { methods, aliases } }) =>
        [...methods].flatMap((method) => [
          method,
          ...otherNames(method, Object.fromEntries(aliases)),
        ]),
      ),
  )
  const light = [...(table.reads?.['without-params'] ?? []), ...(table.reads?.plain ?? [])]
  const { code = [], heavy = [] } = table.reads ?? {}

  it.each([...light, ...code, ...heavy])('%s is of a chain of the family', (name) => {
    const isIt = (method: string) =>
      name.endsWith('*') ? method.startsWith(name.slice(0, -1)) : method === name
    expect([...known].some(isIt)).toBe(true)
  })

  it.each([[light], [[...code, ...heavy]]])('are named once: %j', (names) => {
    expect(names).toEqual([...new Set(names)])
  })
})

describe('a failure table', () => {
  const row = { name: 'x', whose: 'node', code: [7], examples: [{ message: 'm', from: 'test' }] }

  it('may add to the reads of another one', () => {
    const own = failureFileSchema.parse({ failures: 'own', reads: { plain: ['my_get*'] } })
    const table = compileFailures([own, tables.find(({ failures }) => failures === 'evm')!])
    const error = { status: 200, code: 3, message: 'execution reverted' }
    const names = ['my_getThing', 'eth_getCode', 'my_callThing'].map(
      (read) => table.ofNodeError(error, undefined, knownRead(read)).name,
    )
    expect(names).toEqual([misplaced, misplaced, 'execution-reverted'])
  })

  it.each([
    ['an unknown kind of read', { 'node-errors': [{ ...row, 'not-for': 'simple' }] }, 'plain'],
    ['another list of reads', { reads: { simple: ['a'] } }, 'Known keys: without-params, plain'],
    ['an unknown kind to be for', { 'node-errors': [{ ...row, 'only-for': ['any'] }] }, 'heavy'],
    ['a star that is not the end', { reads: { plain: ['a*b'] } }, 'its beginning and `*`'],
    ['a star alone', { reads: { plain: ['*'] } }, 'its beginning and `*`'],
  ])('refuses %s', (_case, parts, message) => {
    const checked = failureFileSchema.safeParse({ failures: 't', ...parts })
    expect(checked.error?.issues.map((each) => each.message).join()).toContain(message)
  })
})
