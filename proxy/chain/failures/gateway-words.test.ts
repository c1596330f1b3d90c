// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../load-catalog.ts'
import { ClassifiedChain } from '../testing/classified-chain.ts'

/*
 * Error messages by which gateways, and nodes in trouble, report about themselves. Some sound like
 * statements about the request, but none is the answer to a read.
 */

const messages = [
  "invalid character '<' looking for beginning of value",
  "invalid character 'e' looking for beginning of value",
  'unexpected end of JSON input',
  'json: cannot unmarshal object into Go value of type []rpc.jsonrpcMessage',
  'failed to decode response',
  'unable to parse response from node',
  'failed to parse upstream response',
  'Unexpected token < in JSON at position 0',
  'Unexpected token \'<\', "<html>..." is not valid JSON',
  'expected value at line 1 column 1',
  'EOF while parsing a value at line 1 column 0',
  'error decoding response body',
  'missing response',
  'missing required field result in response',
  'invalid response from backend',
  'invalid json response',
  'could not decode response: invalid json',
  'Could not parse result',
  'invalid input from backend',
  'error trying to connect: tcp connect error: Connection refused (os error 111)',
  'request failed: 502 Bad Gateway',
  'server returned HTTP 503',
  'error sending request for url (http://10.0.0.7:8545/)',
  'connection pool timed out',
  'too many open connections',
  'no healthy upstream',
  'no available nodes',
  'all nodes are down',
  'no live backends',
  'all upstreams exhausted',
  'block not found on any backend',
  'concurrent requests limit',
  'queue is full',
  'out of memory',
  'invalid length header from db',
  'rlp: expected input list for types.Header',
  'snappy: corrupt input',
  'pebble: not found',
  'database disk image is malformed',
  'write: no space left on device',
  'memory access out of bounds',
  'stack overflow',
  'Maximum call stack size exceeded',
  'heap out of memory',
  'invalid hash in cache',
  'state root mismatch',
  'failed to decode block: rlp',
  'invalid merkle root',
  'missing block header',
  'missing address index',
  'missing from snapshot',
  'negative block cache',
  'empty hex from backend',
  'at least one block is being reorganised',
  'JWT token expired',
  'token is expired',
  'invalid token',
  'account suspended',
  'account locked',
  'insufficient balance on your account, please top up',
  'insufficient funds: your prepaid credits are used up',
  'Your account has insufficient balance',
  'payment required: plan expired',
  'gas limit of plan',
  'nonce has already been used for this signed request',
  'request signature invalid',
  'invalid signature',
  'unknown account: API tenant',
  'access denied',
  'forbidden',
  'IP not allowed',
  'origin not allowed',
  'region blocked',
  'chain not supported',
  'network not found',
  'unsupported chain id',
  'invalid chain id',
  'Wrong network',
  'chain id mismatch',
  'maintenance',
  'under maintenance',
  'Try again later',
  'please retry',
  'throttled',
  'Exceeded max concurrency',
  'batch too large',
  'request already in progress',
  'already known request id',
  'transaction could not be parsed by proxy',
  'underpriced plan',
  'fee too low for priority lane',
  'reverted to fallback',
  'Reverting to archive',
  'execution failed on shard',
  'invalid opcode in response codec',
  'out of gas credits',
  'tx pool limit',
  'exceeds block gas limit of provider',
  'invalid address of backend',
]

const catalog = await loadCatalog([])
const reads: Readonly<Record<string, readonly string[]>> = {
  ETH1: [
    'eth_getBalance',
    'eth_getLogs',
    'eth_getBlockByNumber',
    'eth_getTransactionReceipt',
    'eth_feeHistory',
    'eth_blockNumber',
    'eth_call',
    'eth_estimateGas',
  ],
  SLOTCHAIN: ['getBalance', 'getBlock', 'getSlot'],
  BTC: ['getblock', 'getblockcount', 'getrawtransaction'],
  HUBCHAIN: ['status', 'block', 'abci_query'],
  MOVECHAIN: ['/accounts/{address}', '/view'],
  STRK: ['starknet_call', 'starknet_getBlockWithTxs'],
  NEAR: ['query', 'block'],
  SUI: ['sui_getObject', 'sui_getCheckpoint'],
  POLKADOT: ['state_getStorage', 'chain_getHeader'],
  XLM: ['getEvents', '/ledgers/{sequence}'],
  TON: ['/v2/getAddressInformation', '/v2/runGetMethod'],
  TRX: ['eth_getBlockByNumber', '/wallet/getaccount'],
  BEACON: ['/eth/v2/beacon/blocks/{block_id}'],
}

describe.each(Object.keys(reads))('%s', (id) => {
  const { failures } = new ClassifiedChain(catalog.find(id)!).chain
  test.each(messages)('%s', (message) => {
    const accepted = (reads[id] ?? []).filter((read) => {
      const error = { status: 200, code: -32000, message }
      const { origin, retry, cooldown } = failures.ofNodeError(error, read)
      return origin !== 'upstream' && !retry && !cooldown
    })
    expect(accepted).toEqual([])
  })
})

test.each([
  "invalid character '<' looking for beginning of value",
  'json: cannot unmarshal object into Go value of type []rpc.jsonrpcMessage',
  'failed to decode response',
  'unable to parse response from node',
  'invalid input from backend',
  'Unexpected token < in JSON at position 0',
])('an upstream that answers "%s" has failed', (message) => {
  const { failures } = new ClassifiedChain(catalog.find('ETH1')!).chain
  const failure = failures.ofNodeError({ status: 200, code: -32000, message }, 'eth_call')
  expect(failure).toMatchObject({ origin: 'upstream', retry: true, weight: 1 })
})
