// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { encodeRlp, keccak256 } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog, Question } from '../chain/types.ts'
import { Integrity } from './integrity.ts'

/*
 * Honest answers in the forms of real chains, with made-up values. None may be rejected. Every
 * Ethereum JSON-RPC chain gets the checks of ETH1, as a spec that extends it does, and those of the
 * public catalog.
 */

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const testdata = '../chain/testdata'
let catalog: ChainCatalog
let publicCatalog: ChainCatalog
beforeAll(async () => {
  const native = ['../../specs', `${testdata}/aliased-chain.yml`]
  catalog = await loadCatalog(native.map(file))
  publicCatalog = await loadCatalog(
    [`${testdata}/catalog`, `${testdata}/evm-chains.json`].map(file),
  )
})

const hash = (digit: string) => `0x${digit.repeat(64)}`
const bare = (digit: string) => digit.repeat(64)
const address = (digit: string) => `0x${digit.repeat(40)}`
const [a, b, c] = [hash('a'), hash('b'), hash('c')]
const [one, two] = [address('1'), address('2')]
const padded = (of: string) => `0x${of.slice(2).padStart(64, '0')}`

const block = {
  ...{ number: '0x10', hash: a, parentHash: b, timestamp: '0x66', gasUsed: '0x5208' },
  ...{ gasLimit: '0x1c9c380', miner: one, transactions: [c], uncles: [], extraData: '0x' },
}
const transaction = {
  ...{ hash: c, blockHash: a, blockNumber: '0x10', transactionIndex: '0x0', from: one, to: two },
  ...{ value: '0x0', input: '0x', nonce: '0x1', gas: '0x5208', gasPrice: '0x1', type: '0x0' },
}
const log = {
  ...{ address: one, topics: [a, padded(one)], data: '0x', blockNumber: '0x10', blockHash: a },
  ...{ transactionHash: c, transactionIndex: '0x0', logIndex: '0x0', removed: false },
}
const receipt = {
  ...{ transactionHash: c, transactionIndex: '0x0', blockHash: a, blockNumber: '0x10' },
  ...{ from: one, to: two, gasUsed: '0x5208', cumulativeGasUsed: '0x5208', logs: [log] },
  ...{ status: '0x1', type: '0x2', logsBloom: `0x${'0'.repeat(512)}` },
}
const byNumber = 'eth_getBlockByNumber'
const byHash = 'eth_getBlockByHash'

type Case = readonly [name: string, method: string, params: unknown, result: unknown]

/** Answers that any method may return. */
const mayBeUnknown = [
  [byNumber, ['0xffffff', false]],
  [byHash, [a, false]],
  ['eth_getHeaderByNumber', ['0xffffff']],
  ['eth_getTransactionByHash', [a]],
  ['eth_getTransactionReceipt', [a]],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x0']],
  ['eth_getTransactionByBlockHashAndIndex', [a, '0x0']],
  ['eth_getBlockReceipts', ['0xffffff']],
  ['eth_getBlockTransactionCountByNumber', ['0xffffff']],
  ['eth_getUncleByBlockNumberAndIndex', ['0x1', '0x0']],
  ['eth_getLogs', [{}]],
  ['eth_getCode', [one, 'latest']],
  ['eth_getRawTransactionByHash', [a]],
  ['debug_getRawBlock', ['0x1']],
] as const
const nothingKnown = mayBeUnknown.map(([method, params]): Case => [
  `null of ${method}`,
  method,
  params,
  null,
])

const blocks: readonly Case[] = [
  ['a block', byNumber, ['0x10', false], block],
  ['whole transactions', byNumber, ['0x10', true], { ...block, transactions: [transaction] }],
  ['a padded number in the request', byNumber, ['0x0010', false], block],
  ['a padded number', byNumber, ['0x10', false], { ...block, number: '0x0010' }],
  ['a number in capitals', byNumber, ['0x1A', false], { ...block, number: '0x1a' }],
  ['the first block', byNumber, ['0x0', false], { ...block, number: '0x0', parentHash: hash('0') }],
  ['zero as 0x00', byNumber, ['0x0', false], { ...block, number: '0x00' }],
  ['the first block by its tag', byNumber, ['earliest', false], { ...block, number: '0x0' }],
  ['a first block other than 0', byNumber, ['earliest', false], { ...block, number: '0x5' }],
  ['the latest block', byNumber, ['latest', false], { ...block, number: '0x999' }],
  ['the safe block', byNumber, ['safe', false], { ...block, number: '0x998' }],
  ['the finalized block', byNumber, ['finalized', false], { ...block, number: '0x900' }],
  [
    'a pending block without number and hash',
    byNumber,
    ['pending', true],
    { ...block, number: null, hash: null, nonce: null, miner: null, logsBloom: null },
  ],
  ['a pending block with a number', byNumber, ['pending', false], { ...block, hash: null }],
  ['a pending block with zeros', byNumber, ['pending', false], { ...block, hash: hash('0') }],
  ['a block by its hash', byHash, [a, false], block],
  ['a hash in capitals', byHash, [a.toUpperCase().replace('0X', '0x'), false], block],
  ['a hash in capitals in the answer', byHash, [a, false], { ...block, hash: `0x${bare('A')}` }],
  ['0X before a hash', byHash, [`0X${bare('a')}`, false], block],
  ['a header', 'eth_getHeaderByNumber', ['0x10'], block],
  [
    'a block hash that begins with zeros',
    byHash,
    [padded('0xab'), false],
    { hash: padded('0xab') },
  ],
  // Special forms of single chains.
  [
    'Polygon: the author and validators as well',
    byNumber,
    ['0x10', false],
    { ...block, author: two, difficulty: '0x16', totalDifficulty: '0x99', uncles: [] },
  ],
  [
    'Avalanche: own fields',
    byNumber,
    ['0x10', false],
    { ...block, blockExtraData: '0x', extDataHash: b, blockGasCost: '0x0', extDataGasUsed: '0x0' },
  ],
  [
    'Arbitrum: own fields',
    byNumber,
    ['0x10', false],
    { ...block, l1BlockNumber: '0x1234567', sendCount: '0x1', sendRoot: c },
  ],
  [
    'Optimism: a withdrawals root without withdrawals',
    byNumber,
    ['0x10', false],
    { ...block, withdrawals: [], withdrawalsRoot: c, requestsHash: b },
  ],
  [
    'zkSync: the batch it is in',
    byNumber,
    ['0x10', false],
    { ...block, l1BatchNumber: '0x2', l1BatchTimestamp: null, sealFields: [] },
  ],
  [
    'Evmos: gas used and no transactions',
    byNumber,
    ['0x10', false],
    { ...block, transactions: [] },
  ],
  ['Cronos: gas used and no transactions', byHash, [a, true], { ...block, transactions: [] }],
  [
    'Kava: gas used, no transactions, a bloom of zeros',
    byNumber,
    ['0x10', true],
    { ...block, transactions: [], logsBloom: `0x${'0'.repeat(512)}`, baseFeePerGas: null },
  ],
  [
    'Harmony: staking transactions only',
    byNumber,
    ['0x10', true],
    { ...block, transactions: [], stakingTransactions: [{ hash: c, type: 'Delegate' }] },
  ],
  ['Harmony: numbers as numbers', byNumber, ['0x10', false], { ...block, number: 16, gasUsed: 0 }],
  [
    'Hedera: an empty block with its own root',
    byNumber,
    ['0x10', false],
    { ...block, transactions: [], transactionsRoot: hash('d'), stateRoot: hash('0') },
  ],
  ['Sei: no uncles at all', byNumber, ['0x10', false], { ...block, uncles: undefined }],
  ['Tron: no state root', byNumber, ['0x10', false], { ...block, stateRoot: '0x', nonce: null }],
  [
    'Filecoin: the hash of a tipset',
    byNumber,
    ['0x10', false],
    { ...block, hash: hash('e'), parentHash: hash('f'), miner: address('0'), uncles: null },
  ],
  ['Gnosis: a signature in place of a nonce', byNumber, ['0x10', false], { ...block, step: '9' }],
  ['Fantom: an epoch', byNumber, ['0x10', false], { ...block, epoch: '0x7', timestampNano: '0x9' }],
  ['Celo: no gas limit', byNumber, ['0x10', false], { ...block, gasLimit: undefined }],
  ['Klaytn: no difficulty', byNumber, ['0x10', false], { ...block, blockscore: '0x1' }],
  ['Moonbeam: no mix hash', byNumber, ['0x10', false], { ...block, mixHash: undefined }],
  ['BSC: milliseconds', byNumber, ['0x10', false], { ...block, milliTimestamp: '0x1983' }],
  ['Aurora: members in other types', byNumber, ['0x10', false], { ...block, size: 0x200 }],
  ['Boba: an L1 block', byNumber, ['0x10', false], { ...block, l1BlockNumber: null }],
  [
    'an uncle of an earlier block',
    'eth_getUncleByBlockNumberAndIndex',
    ['0x10', '0x0'],
    { ...block, number: '0xe' },
  ],
]

const transactionsAndReceipts: readonly Case[] = [
  ['a transaction', 'eth_getTransactionByHash', [c], transaction],
  ['in capitals', 'eth_getTransactionByHash', [`0x${bare('C')}`], transaction],
  [
    'a pending transaction',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, blockHash: null, blockNumber: null, transactionIndex: null },
  ],
  [
    'a pending transaction, with zeros',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, blockHash: hash('0'), blockNumber: '0x0', transactionIndex: '0x0' },
  ],
  ['by number and index', 'eth_getTransactionByBlockNumberAndIndex', ['0x10', '0x0'], transaction],
  ['by hash and index', 'eth_getTransactionByBlockHashAndIndex', [a, '0x0'], transaction],
  [
    'Sei: gaps in the index',
    'eth_getTransactionByBlockNumberAndIndex',
    ['0x10', '0x1'],
    { ...transaction, transactionIndex: '0x4' },
  ],
  [
    'Hedera: gaps in the index',
    'eth_getTransactionByBlockHashAndIndex',
    [a, '0x1'],
    { ...transaction, transactionIndex: '0x3' },
  ],
  [
    'of a pending block',
    'eth_getTransactionByBlockNumberAndIndex',
    ['pending', '0x0'],
    { ...transaction, blockNumber: null, blockHash: null },
  ],
  [
    'Filecoin: requested by its CID',
    'eth_getTransactionByHash',
    ['bafy2bzacedwviarjtjraqakob5pslltmuo5n3xev3nt5zylezofkbbv5jclyu'],
    { ...transaction, hash: hash('d') },
  ],
  [
    'Filecoin: a receipt by its CID',
    'eth_getTransactionReceipt',
    ['bafy2bzacedwviarjtjraqakob5pslltmuo5n3xev3nt5zylezofkbbv5jclyu'],
    { ...receipt, transactionHash: hash('d') },
  ],
  [
    'Optimism: a deposit',
    'eth_getTransactionByHash',
    [c],
    {
      ...transaction,
      type: '0x7e',
      sourceHash: b,
      mint: '0x0',
      isSystemTx: false,
      gasPrice: '0x0',
    },
  ],
  [
    'Arbitrum: an internal transaction',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, type: '0x6a', requestId: b },
  ],
  ['zkSync: its own type', 'eth_getTransactionByHash', [c], { ...transaction, type: '0x71' }],
  ['Celo: a fee currency', 'eth_getTransactionByHash', [c], { ...transaction, feeCurrency: two }],
  [
    'Polygon: a state sync',
    'eth_getTransactionByHash',
    [c],
    {
      ...transaction,
      from: address('0'),
      to: address('0'),
      gas: '0x0',
      v: '0x0',
      r: '0x0',
      s: '0x0',
    },
  ],
  ['a creation', 'eth_getTransactionByHash', [c], { ...transaction, to: null, creates: one }],
  ['a receipt', 'eth_getTransactionReceipt', [c], receipt],
  ['a receipt of a creation', 'eth_getTransactionReceipt', [c], { ...receipt, to: null }],
  [
    'Polygon: a failed transaction with its fee log',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, status: '0x0', logs: [{ ...log, address: `0x${'0'.repeat(36)}1010` }] },
  ],
  [
    'zkSync: a failed transaction with fee logs',
    'eth_getTransactionReceipt',
    [c],
    {
      ...receipt,
      status: '0x0',
      l2ToL1Logs: [],
      logs: [{ ...log, address: `0x${'0'.repeat(36)}800a` }],
    },
  ],
  [
    'before Byzantium: a root in place of a status',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, status: undefined, root: b },
  ],
  [
    'Hedera: logs numbered in each transaction',
    'eth_getBlockReceipts',
    ['0x10'],
    [receipt, { ...receipt, transactionHash: b, transactionIndex: '0x5' }],
  ],
  ['receipts of a block by its number', 'eth_getBlockReceipts', ['0x10'], [receipt]],
  ['receipts of a block by its hash', 'eth_getBlockReceipts', [a], [receipt]],
  ['receipts by an object', 'eth_getBlockReceipts', [{ blockHash: a }], [receipt]],
  ['receipts of the latest block', 'eth_getBlockReceipts', ['latest'], [receipt]],
  ['no receipts', 'eth_getBlockReceipts', ['0x10'], []],
  [
    'zkSync: a receipt with logs of no block yet',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, blockNumber: null, blockHash: null },
  ],
  [
    'Tron: an energy price, no bloom',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, logsBloom: undefined, effectiveGasPrice: '0x1a4' },
  ],
  [
    'Optimism: L1 fees',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, l1Fee: '0x1', l1GasPrice: '0x2', l1GasUsed: '0x3', depositNonce: '0x4' },
  ],
]

const filter = { fromBlock: '0x5', toBlock: '0x20', address: one }

const logsOf: readonly (readonly [name: string, wanted: object, result: readonly object[]])[] = [
  ['inside the range', filter, [log]],
  ['none', filter, []],
  ['the address in capitals', { ...filter, address: address('1').toUpperCase() }, [log]],
  [
    'the checksum of an address',
    { address: `0x${'aB'.repeat(20)}` },
    [{ ...log, address: `0x${'ab'.repeat(20)}` }],
  ],
  ['one of several addresses', { ...filter, address: [two, one] }, [log]],
  ['no address', { fromBlock: '0x5' }, [log]],
  ['an address of null', { fromBlock: '0x5', address: null }, [log]],
  ['no addresses in a list', { fromBlock: '0x5', address: [] }, [log]],
  ['a topic', { ...filter, topics: [a] }, [log]],
  ['topics of null', { ...filter, topics: [null, padded(one)] }, [log]],
  ['a list of topics', { ...filter, topics: [[b, a]] }, [log]],
  ['a list of topics after null', { ...filter, topics: [null, [b, padded(one)]] }, [log]],
  ['an empty list of topics', { ...filter, topics: [[], padded(one)] }, [log]],
  ['null in a list of topics', { ...filter, topics: [[null, b]] }, [log]],
  ['null after the topics of a log', { ...filter, topics: [a, null, null] }, [log]],
  ['a topic in capitals', { ...filter, topics: [`0x${bare('A')}`] }, [log]],
  ['no topics', { ...filter, topics: [] }, [log]],
  ['topics that are null', { ...filter, topics: null }, [log]],
  ['a log without topics', filter, [{ ...log, topics: [] }]],
  ['from the earliest', { fromBlock: 'earliest', toBlock: '0x20' }, [log]],
  ['to the latest', { fromBlock: '0x5', toBlock: 'latest' }, [{ ...log, blockNumber: '0x9999' }]],
  ['to the safe', { fromBlock: '0x5', toBlock: 'safe' }, [log]],
  ['to the finalized', { fromBlock: '0x5', toBlock: 'finalized' }, [log]],
  ['of the latest block', { fromBlock: 'latest', toBlock: 'latest' }, [log]],
  ['without a range', {}, [log]],
  ['from a number on', { fromBlock: '0x10' }, [{ ...log, blockNumber: '0x99' }]],
  ['up to a number', { fromBlock: 'earliest', toBlock: '0x10' }, [log]],
  [
    'pending logs',
    { fromBlock: '0x5', toBlock: 'pending' },
    [log, { ...log, blockNumber: null, blockHash: null, logIndex: null, transactionIndex: null }],
  ],
  ['of one block', { blockHash: a }, [log]],
  ['of one block in capitals', { blockHash: `0x${bare('A')}` }, [log]],
  ['of one block and no number', { blockHash: a }, [{ ...log, blockNumber: null }]],
  ['a padded number', { ...filter, fromBlock: '0x0010', toBlock: '0x00010' }, [log]],
  ['numbered in each transaction', filter, [log, { ...log, transactionHash: b, logIndex: '0x0' }]],
  ['gaps in the index', filter, [log, { ...log, logIndex: '0x7' }]],
  ['in another order', filter, [{ ...log, blockNumber: '0x11', blockHash: b }, log]],
  ['without an index of the transaction', filter, [{ ...log, transactionIndex: undefined }]],
  ['with a time', filter, [{ ...log, blockTimestamp: '0x66' }]],
  ['XDC: its own form of address', { address: `xdc${'1'.repeat(40)}` }, [log]],
  ['XDC: answered in its own form', filter, [{ ...log, address: `xdc${'1'.repeat(40)}` }]],
  ['Tron: 41 before the address', { address: `41${'1'.repeat(40)}` }, [log]],
  ['Harmony: an address in bech32', { address: 'one1a2b3c4d5e6f7g8h9' }, [log]],
  ['a number as a number', { fromBlock: 5, toBlock: 32 }, [log]],
]
const logs = logsOf.map(([name, request, result]): Case => [
  `logs: ${name}`,
  'eth_getLogs',
  [request],
  result,
])

const values: readonly Case[] = [
  ['Tron: net_version in hex', 'net_version', [], '0x2b6653dc'],
  ['Ethereum Classic: another network', 'net_version', [], '1'],
  ['another chain id', 'eth_chainId', [], '0x3e7'],
  ['a chain id in decimal', 'eth_chainId', [], '999'],
  [
    'Avalanche: one base fee per block',
    'eth_feeHistory',
    ['0x2', 'latest', [25]],
    {
      oldestBlock: '0xf',
      baseFeePerGas: ['0x1', '0x2'],
      gasUsedRatio: [0.1, 0.2],
      reward: [['0x1'], ['0x1']],
    },
  ],
  [
    'fewer blocks',
    'eth_feeHistory',
    ['0x400', 'latest', []],
    { oldestBlock: '0x0', gasUsedRatio: null },
  ],
  ['syncing', 'eth_syncing', [], { currentBlock: '0x1', highestBlock: '0x2' }],
  ['a balance of zero', 'eth_getBalance', [one, 'latest'], '0x'],
  ['a padded balance', 'eth_getBalance', [one, 'latest'], '0x0001'],
  ['a storage word cut short', 'eth_getStorageAt', [one, '0x0', 'latest'], '0x0'],
  ['odd code', 'eth_getCode', [one, 'latest'], '0x0'],
  ['a call that reverts with data', 'eth_call', [{}, 'latest'], '0x'],
  [
    'a proof of an account',
    'eth_getProof',
    [one, [], 'latest'],
    { address: two, storageProof: [] },
  ],
  ['traces', 'trace_block', ['0x10'], [{ blockNumber: 16, type: 'reward' }]],
  ['sent: its own type', 'eth_sendRawTransaction', ['0x71f8'], hash('d')],
  ['sent: a result other than hex', 'eth_sendRawTransaction', ['hello'], hash('d')],
  ['an unknown method', 'zks_L1BatchNumber', [], '0x1'],
]

const numbered = (digits: string) => `0x${digits.padStart(40, '0')}`
const masked = (digits: string) => `0xff${digits.padStart(38, '0')}`
const another = { ...log, address: two }
const stateSync = {
  ...{ ...transaction, from: address('0'), to: address('0'), gas: '0x0', gasPrice: '0x0' },
  ...{ v: '0x0', r: '0x0', s: '0x0' },
}

/** Edge blocks, alternative names, and answers that only one chain returns. */
const edges: readonly Case[] = [
  ['Evmos: block 0 is the latest', byNumber, ['0x0', false], { ...block, number: '0x1a2b3c' }],
  ['OKC: block 0 with transactions', byNumber, ['0x00', true], { ...block, transactions: [] }],
  ['Cronos: receipts of block 0', 'eth_getBlockReceipts', ['0x0'], [receipt]],
  ['Kava: receipts of block 0 in an object', 'eth_getBlockReceipts', [{ blockNumber: '0x0' }], []],
  [
    'Injective: the first transaction of block 0',
    'eth_getTransactionByBlockNumberAndIndex',
    ['0x0', '0x0'],
    transaction,
  ],
  ['Evmos: the header of block 0', 'eth_getHeaderByNumber', ['0x0'], block],
  [
    'Evmos: logs up to block 0 end at block 1',
    'eth_getLogs',
    [{ fromBlock: '0x0', toBlock: '0x0' }],
    [{ ...log, blockNumber: '0x1' }],
  ],
  ['Canto: logs up to 0 as a number', 'eth_getLogs', [{ fromBlock: 0, toBlock: 0 }], [log]],
  [
    'Tron: the first block by a number, whose hash begins with its height',
    byNumber,
    [0, true],
    { ...block, number: '0x0', hash: padded('0x1ebf88508a03865c'), parentHash: padded('0x9e') },
  ],
  ['Tron: a hash without 0x', byHash, [bare('a'), false], block],
  ['Tron: a transaction without 0x', 'eth_getTransactionByHash', [bare('c')], transaction],
  ['Sei: the first block', byNumber, ['0x0', false], { ...block, number: '0x0', hash: hash('f') }],
  ['Optimism: the first block of Bedrock', byNumber, ['0x645c277', false], { number: '0x645c277' }],
  [
    'Hedera: a filter by number, a log by its address',
    'eth_getLogs',
    [{ address: numbered('582649') }],
    [log],
  ],
  [
    'Hedera: a filter by address, a log by its number',
    'eth_getLogs',
    [{ address: one }],
    [{ ...log, address: numbered('582649') }],
  ],
  [
    'Hedera: one of several addresses is a number',
    'eth_getLogs',
    [{ address: [one, numbered('409')], fromBlock: '0x5', toBlock: '0x20' }],
    [log, another, { ...another, logIndex: '0x1' }],
  ],
  [
    'Hedera: a block by its hash of 48 bytes',
    byHash,
    [`${a}${'7'.repeat(32)}`, false],
    { ...block, hash: a },
  ],
  [
    'Hedera: a transaction by its hash of 48 bytes',
    'eth_getTransactionByHash',
    [`${b}${'7'.repeat(32)}`],
    { ...transaction, hash: b },
  ],
  ['an address as a topic', 'eth_getLogs', [{ topics: [null, one] }], [log]],
  [
    'Filecoin: a filter by the id of an actor',
    'eth_getLogs',
    [{ address: masked('5e4') }],
    [another],
  ],
  [
    'Filecoin: a log by the id of an actor',
    'eth_getLogs',
    [{ address: [one] }],
    [{ ...log, address: masked('5e4') }],
  ],
  [
    'Polygon: its coin',
    'eth_getLogs',
    [{ address: numbered('1010') }],
    [{ ...log, address: numbered('1010') }],
  ],
  [
    'zkSync: its coin in capitals',
    'eth_getLogs',
    [{ address: numbered('800A') }],
    [{ ...log, address: numbered('800a') }],
  ],
  ['Polygon: a state sync by its own hash', 'eth_getTransactionByHash', [c], stateSync],
  [
    'Polygon: a state sync in whole transactions',
    byNumber,
    ['0x10', true],
    { ...block, transactions: [transaction, { ...stateSync, hash: hash('d') }] },
  ],
  [
    'Polygon: its receipt after those of the block',
    'eth_getBlockReceipts',
    ['0x10'],
    [receipt, { ...receipt, transactionHash: hash('d'), gasUsed: '0x0', status: '0x1' }],
  ],
  [
    'Polygon: a state sync of type 0x7f',
    'eth_getTransactionByHash',
    [c],
    { ...stateSync, type: '0x7f' },
  ],
  [
    'Celo: the logs of a block itself',
    'eth_getLogs',
    [{ blockHash: a }],
    [{ ...log, transactionHash: a }],
  ],
  [
    'Celo: the receipt of a block itself',
    'eth_getTransactionReceipt',
    [a],
    { ...receipt, transactionHash: a },
  ],
  [
    'Harmony: a second hash as well',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, ethHash: hash('d') },
  ],
  [
    'Kaia: a type in words',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, type: 'TxTypeFeeDelegatedValueTransfer', senderTxHash: hash('d') },
  ],
  [
    'Arbitrum: a block number of L1 in a receipt',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, l1BlockNumber: '0x1234567', gasUsedForL1: '0x1' },
  ],
  [
    'Arbitrum: a retryable ticket',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, type: '0x69', ticketId: hash('d'), refundTo: two },
  ],
  [
    'Scroll: a message of L1',
    'eth_getTransactionByHash',
    [c],
    { ...transaction, type: '0x7e', queueIndex: '0x5' },
  ],
  [
    'Hyperliquid: a transaction of the exchange',
    'eth_getBlockReceipts',
    ['0x10'],
    [{ ...receipt, from: `0x${'2'.repeat(40)}`, cumulativeGasUsed: '0x0' }],
  ],
  [
    'Base: a preconfirmed receipt',
    'eth_getTransactionReceipt',
    [c],
    { ...receipt, blockHash: hash('0') },
  ],
  ['Base: a preconfirmed block', byNumber, ['pending', true], { ...block, number: '0x11' }],
  ['Base: preconfirmed receipts', 'eth_getBlockReceipts', ['pending'], [receipt]],
  ['Avalanche: pending is the latest', byNumber, ['pending', false], { ...block, number: '0x17' }],
  ['a pruned node: the earliest block it has', byNumber, ['earliest', false], block],
  [
    'before the merge: uncles',
    byNumber,
    ['0x10', false],
    { ...block, uncles: [b, c], nonce: '0x7' },
  ],
  [
    'a transaction of a fork',
    'eth_getTransactionByBlockHashAndIndex',
    [b, '0x0'],
    { ...transaction, blockHash: b },
  ],
  ['a block with numbers as texts', byNumber, ['0x10', false], { ...block, number: '16' }],
  ['an old log that was removed', 'eth_getLogs', [filter], [{ ...log, removed: true }]],
  ['logs of a block that do not name it', 'eth_getLogs', [{ blockHash: a }], [{ data: '0x' }]],
  ['Nethermind: a height in decimal', byNumber, ['99', false], { ...block, number: '0x63' }],
  ['a height from 2^53 on', byNumber, ['0x20000000000000', false], block],
]

const item = encodeRlp(['0x01', '0x', '0x05', '0x05', '0x5208', one, '0x', '0x', [], '0x09', [c]])
const signed = item.slice(2)
const blobs = ['0xb10b', '0xc0', '0xd0'].map((each) => [each])
const list = ['0x01', '0x', '0x05']
const rawOf = (type: string, form: Parameters<typeof encodeRlp>[0]) =>
  `0x${type}${encodeRlp(form).slice(2)}`
const send = 'eth_sendRawTransaction'
const sync = 'eth_sendRawTransactionSync'
const noType = keccak256(item)

const broadcasts: readonly Case[] = [
  ['without a type', send, [item], noType],
  ['the hash in capitals', send, [item], noType.toUpperCase()],
  ['the hash without 0x', send, [item], noType.slice(2)],
  ['0X before the transaction', send, [`0X${signed}`], noType],
  ['a transaction without 0x', send, [signed], hash('d')],
  ...['01', '02', '03', '04'].map((type): Case => [
    `type ${type}`,
    send,
    [`0x${type}${signed}`],
    keccak256(`0x${type}${signed}`),
  ]),
  ['blobs as well', send, [rawOf('03', [list, ...blobs])], keccak256(rawOf('03', list))],
  [
    'cell proofs as well',
    send,
    [rawOf('03', [list, '0x01', ...blobs])],
    keccak256(rawOf('03', list)),
  ],
  ['its receipt at once', sync, [item], { ...receipt, transactionHash: noType }],
  ...['64', '71', '78', '7b', '7c', '7e', '7f'].map((type): Case => [
    `a type of one chain, ${type}`,
    send,
    [`0x${type}${signed}`],
    hash('d'),
  ]),
]

const ofEthereum = [
  ...[...nothingKnown, ...blocks, ...transactionsAndReceipts, ...logs, ...values, ...edges],
  ...broadcasts,
]

describe('chains that speak JSON-RPC of Ethereum', () => {
  it.each(ofEthereum)('%s', (_, method, params, result) => {
    expect(found('ETH1', { apiInterface: 'jsonrpc', method, params }, result)).toBeNull()
    for (const chain of ['ETH1', 'BASE', 'AVAX', 'EVMOS', 'FVM', 'FVMT'])
      expect(
        found(chain, { apiInterface: 'jsonrpc', method, params }, result, publicCatalog),
      ).toBeNull()
  })
})

/** An epoch without a block, and a message that the node also finds by the hash of its CID. */
const ofFilecoin: readonly Case[] = [
  ['a transaction by its CID', 'eth_getTransactionByHash', [a], transaction],
  ['a receipt by its CID', 'eth_getTransactionReceipt', [a], receipt],
  ['the block before an empty epoch', byNumber, ['0x11', false], block],
  ['the block after an empty epoch', byNumber, ['0xf', true], block],
  ['receipts before an empty epoch', 'eth_getBlockReceipts', ['0x11'], [receipt]],
  [
    'a transaction before an empty epoch',
    'eth_getTransactionByBlockNumberAndIndex',
    ['0x11', '0x0'],
    transaction,
  ],
]

describe.each(['FVM', 'FVMT'])('%s', (chain) => {
  it.each(ofFilecoin)('%s', (_, method, params, result) => {
    const question = { apiInterface: 'jsonrpc', method, params } as const
    expect(found(chain, question, result, publicCatalog)).toBeNull()
    expect(found('BASE', question, result, publicCatalog)).not.toBeNull()
  })
})

/** Answers with the other hash, from a chain whose spec declares two. */
const aliased: readonly Case[] = [
  ['Harmony: a transaction by its own hash', 'eth_getTransactionByHash', [a], transaction],
  ['Harmony: a receipt by its own hash', 'eth_getTransactionReceipt', [a], receipt],
  ['Asset Hub: a block by the hash of Substrate', byHash, [b, true], block],
  ['Asset Hub: receipts by the hash of Substrate', 'eth_getBlockReceipts', [b], [receipt]],
  [
    'Asset Hub: a transaction by the hash of Substrate',
    'eth_getTransactionByBlockHashAndIndex',
    [b, '0x0'],
    transaction,
  ],
  ...ofFilecoin,
]

describe('a chain with second hashes', () => {
  it.each(aliased)('%s', (_, method, params, result) => {
    const question = { apiInterface: 'jsonrpc', method, params } as const
    expect(found('ALIASED', question, result)).toBeNull()
  })
})

const inBase64 = Buffer.from(bare('ab').slice(0, 64), 'hex').toString('base64')
const signature = '5'.repeat(87)
const header = { height: '16', chain_id: 'hub', last_block_id: { hash: bare('B') } }
const hubBlock = { block_id: { hash: bare('A') }, block: { header, data: { txs: [] } } }

const otherJsonRpc: readonly (readonly [string, ...Case])[] = [
  [
    'SLOTCHAIN',
    'a slot',
    'getBlock',
    [500],
    { parentSlot: 499, blockhash: signature, previousBlockhash: signature },
  ],
  ['SLOTCHAIN', 'skipped slots', 'getBlock', [500], { parentSlot: 480, blockhash: signature }],
  ['SLOTCHAIN', 'no slot', 'getBlock', [500], null],
  ['SLOTCHAIN', 'the first block', 'getBlock', [0], { parentSlot: 0, blockHeight: 0 }],
  ['SLOTCHAIN', 'the second block', 'getBlock', [1], { parentSlot: 0, blockHeight: 1 }],
  ['SLOTCHAIN', 'its own parent, of a simulator', 'getBlock', [500], { parentSlot: 500 }],
  ['SLOTCHAIN', 'slots of an outage', 'getBlock', [200_000], { parentSlot: 100_001 }],
  [
    'SLOTCHAIN',
    'signatures only',
    'getBlock',
    [500, { rewards: false, transactionDetails: 'signatures', commitment: 'confirmed' }],
    { parentSlot: 499, signatures: [signature] },
  ],
  ['SLOTCHAIN', 'no parent', 'getBlock', [500], { blockhash: signature }],
  [
    'SLOTCHAIN',
    'several signatures',
    'getTransaction',
    [signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }],
    { slot: 5, version: 0, transaction: { signatures: [signature, '4'.repeat(87)] } },
  ],
  [
    'SLOTCHAIN',
    'accounts only',
    'getTransaction',
    [signature, { encoding: 'accounts' }],
    { slot: 5, transaction: { signatures: [signature], accountKeys: [] } },
  ],
  [
    'SLOTCHAIN',
    'a block without height',
    'getBlock',
    [500],
    { parentSlot: 499, blockHeight: null },
  ],
  [
    'SLOTCHAIN',
    'a parent that was cleaned up',
    'getBlock',
    [500],
    { parentSlot: 499, previousBlockhash: '1'.repeat(32) },
  ],
  [
    'SLOTCHAIN',
    'a transaction',
    'getTransaction',
    [signature],
    { slot: 5, transaction: { signatures: [signature] } },
  ],
  [
    'SLOTCHAIN',
    'in base64',
    'getTransaction',
    [signature, 'base64'],
    { slot: 5, transaction: ['AQ==', 'base64'] },
  ],
  [
    'SLOTCHAIN',
    'in base58',
    'getTransaction',
    [signature, 'base58'],
    { slot: 5, transaction: '3x' },
  ],
  ['SLOTCHAIN', 'no transaction', 'getTransaction', [signature], null],
  [
    'SLOTCHAIN',
    'statuses',
    'getSignatureStatuses',
    [[signature]],
    { context: { slot: 5 }, value: [null] },
  ],
  ['SLOTCHAIN', 'accounts', 'getMultipleAccounts', [[]], { context: { slot: 5 }, value: [] }],
  [
    'BTC',
    'a block',
    'getblock',
    [bare('a')],
    { hash: bare('a'), height: 5, previousblockhash: bare('b'), tx: [] },
  ],
  [
    'BTC',
    'the first block',
    'getblock',
    [bare('a')],
    { hash: bare('a'), height: 0, tx: [bare('c')] },
  ],
  ['BTC', 'a raw block', 'getblock', [bare('a'), 0], '00ff'],
  ['BTC', 'a header', 'getblockheader', [bare('a')], { hash: bare('a'), confirmations: -1 }],
  ['BTC', 'a raw header', 'getblockheader', [bare('a'), false], '00'.repeat(80)],
  [
    'BTC',
    'a transaction',
    'getrawtransaction',
    [bare('c'), true],
    { txid: bare('c'), hash: bare('d') },
  ],
  ['BTC', 'a raw transaction', 'getrawtransaction', [bare('c')], '0100'],
  ['BTC', 'a block by its height, as BCHN takes it', 'getblock', ['5', 1], { hash: bare('a') }],
  ['BTC', 'a block by a number', 'getblock', [5], { hash: bare('a'), height: 5 }],
  ['BTC', 'a hash in capitals', 'getblock', [bare('A')], { hash: bare('a') }],
  [
    'BTC',
    'whole transactions',
    'getblock',
    [bare('a'), 3],
    { hash: bare('a'), nextblockhash: bare('b'), tx: [{ txid: bare('c') }] },
  ],
  ['BTC', 'a header of a fork', 'getblockheader', [bare('a')], { hash: bare('a'), height: 5 }],
  [
    'BTC',
    'a transaction with a witness',
    'getrawtransaction',
    [bare('c'), 2, bare('a')],
    { txid: bare('c'), hash: bare('d'), in_active_chain: false, vin: [{ coinbase: '00' }] },
  ],
  [
    'BTC',
    'hashes that begin with zeros',
    'getblockheader',
    [`${'0'.repeat(10)}${'b'.repeat(54)}`],
    { hash: `${'0'.repeat(10)}${'b'.repeat(54)}` },
  ],
  ['BTC', 'statistics of the first block', 'getblockstats', [0], { height: 0 }],
  [
    'BTC',
    'statistics by a hash',
    'getblockstats',
    [bare('a')],
    { height: 5, blockhash: bare('a') },
  ],
  ['BTC', 'some statistics', 'getblockstats', [5, ['txs']], { txs: 7 }],
  ['BTC', 'statistics', 'getblockstats', [5], { height: 5, blockhash: bare('a') }],
]

describe('other chains that speak JSON-RPC', () => {
  it.each(otherJsonRpc)('%s: %s', (chain, _, method, params, result) => {
    expect(found(chain, { apiInterface: 'jsonrpc', method, params }, result)).toBeNull()
  })
})

const tendermint: readonly Case[] = [
  ['a block', 'block', { height: '16' }, hubBlock],
  ['a block by a number', 'block', [16], hubBlock],
  ['the latest block', 'block', {}, hubBlock],
  [
    'the first block',
    'block',
    { height: '16' },
    { ...hubBlock, block: { header: { ...header, last_block_id: { hash: '' } } } },
  ],
  [
    'a block by its hash in base64',
    'block_by_hash',
    { hash: Buffer.from(bare('a'), 'hex').toString('base64') },
    hubBlock,
  ],
  ['a block by its hash in hex', 'block_by_hash', { hash: `0x${bare('a')}` }, hubBlock],
  [
    'no block of that hash',
    'block_by_hash',
    { hash: `0x${bare('c')}` },
    { block_id: { hash: '' }, block: null },
  ],
  [
    'a commit',
    'commit',
    { height: '16' },
    {
      signed_header: { header, commit: { height: '16', block_id: { hash: bare('A') } } },
      canonical: true,
    },
  ],
  ['results', 'block_results', { height: '16' }, { height: '16', txs_results: null }],
  [
    'validators',
    'validators',
    { height: '16' },
    { block_height: '16', validators: [], count: '0', total: '0' },
  ],
  [
    'a transaction in hex',
    'tx',
    { hash: `0x${bare('ab').slice(0, 64)}` },
    { hash: bare('AB').slice(0, 64), height: '5' },
  ],
  [
    'a transaction in base64',
    'tx',
    { hash: inBase64 },
    { hash: bare('AB').slice(0, 64), height: '5' },
  ],
  ['height 0', 'block', { height: '0' }, hubBlock],
  ['results of height 0', 'block_results', { height: '0' }, { height: '16' }],
  ['a height of null', 'block', { height: null }, hubBlock],
  ['a height by position', 'header', ['16'], { header }],
  ['no block', 'block', { height: '16' }, { block_id: { hash: '' }, block: null }],
  ['a latest commit', 'commit', {}, { signed_header: { header, commit: { height: '16' } } }],
  ['parameters', 'consensus_params', { height: '16' }, { block_height: '16' }],
  ['a hash in lower case', 'tx', { hash: `0x${bare('c')}` }, { hash: bare('C') }],
  ['a hash in quotes', 'tx', { hash: `"${bare('c')}"` }, { hash: bare('C') }],
  ['a hash by position', 'tx', [inBase64, true], { hash: bare('AB').slice(0, 64), proof: {} }],
]

describe('Tendermint RPC', () => {
  it.each(tendermint)('%s', (_, method, params, result) => {
    expect(found('HUBCHAIN', { apiInterface: 'tendermintrpc', method, params }, result)).toBeNull()
  })
})

const rest: readonly (readonly [chain: string, path: string, result: unknown])[] = [
  ['MOVECHAIN', '/v1/blocks/by_height/16', { block_height: '16', block_hash: a }],
  [
    'MOVECHAIN',
    '/v1/transactions/by_version/7',
    { version: '7', hash: a, type: 'user_transaction' },
  ],
  ['MOVECHAIN', `/v1/transactions/by_hash/${a}`, { hash: a, type: 'pending_transaction' }],
  ['MOVECHAIN', `/v1/transactions/by_hash/0x0ab`, { hash: padded('0xab') }],
  ['MOVECHAIN', '/v1/accounts/0x1', { sequence_number: '5' }],
  [
    'HUBCHAIN',
    '/cosmos/base/tendermint/v1beta1/blocks/16',
    { block: { header }, block_id: { hash: inBase64 } },
  ],
  ['HUBCHAIN', '/cosmos/base/tendermint/v1beta1/blocks/latest', { block: { header } }],
  [
    'HUBCHAIN',
    `/cosmos/tx/v1beta1/txs/${bare('a')}`,
    { tx_response: { txhash: bare('A'), height: '5' } },
  ],
  [
    'HUBCHAIN',
    `/cosmos/tx/v1beta1/txs/0x${bare('a')}`,
    { tx_response: { txhash: bare('A'), height: '5' } },
  ],
  ['HUBCHAIN', '/cosmos/tx/v1beta1/txs/block/16', { txs: [], block: { header } }],
  ['HUBCHAIN', '/cosmos/base/tendermint/v1beta1/blocks/0', { block: { header } }],
  [
    'HUBCHAIN',
    '/cosmos/base/tendermint/v1beta1/blocks/16',
    { block: null, sdk_block: { header }, block_id: { hash: inBase64 } },
  ],
  [
    'HUBCHAIN',
    '/cosmos/base/tendermint/v1beta1/validatorsets/16?pagination.limit=1',
    { block_height: '16', validators: [] },
  ],
  ['MOVECHAIN', '/v1/blocks/by_height/0', { block_height: '0', first_version: '0' }],
  ['MOVECHAIN', '/v1/blocks/by_version/7', { block_height: '3', first_version: '6' }],
  ['MOVECHAIN', '/v1/transactions/by_version/0', { version: '0', type: 'genesis_transaction' }],
  ['MOVECHAIN', `/v1/transactions/by_hash/${bare('a')}`, { hash: a }],
  ['MOVECHAIN', `/v1/transactions/by_hash/${a.toUpperCase()}`, { hash: a, version: '7' }],
  ['MOVECHAIN', `/v1/transactions/wait_by_hash/${a}`, { hash: a, type: 'user_transaction' }],
]

describe('REST', () => {
  it.each(rest)('%s %s', (chain, path, result) => {
    const header = () => null
    const question = { apiInterface: 'rest', verb: 'GET', path, query: '', header } as const
    expect(found(chain, question, result)).toBeNull()
  })
})

/** Chains of the public catalog without checks, where every answer passes. */
const unchecked: readonly (readonly [chain: string, ...Case])[] = [
  ['SOLANA', 'the first block', 'getBlock', [0], { parentSlot: 0 }],
  ['SOLANA', 'a transaction', 'getTransaction', [signature], { slot: 5 }],
  ['BTC', 'a block by its height', 'getblock', [5], { hash: bare('a') }],
  ['BTC', 'a transaction', 'getrawtransaction', [bare('c'), 1], { txid: bare('d') }],
  ['NEAR', 'a block by a hash in base58', 'block', { block_id: 'B7u' }, { header: { height: 5 } }],
  ['NEAR', 'the first block', 'block', { block_id: 0 }, { header: { height: 9_820_210 } }],
  ['NEAR', 'a skipped block', 'chunk', { block_id: 5, shard_id: 0 }, { header: {} }],
  ['AVAX', 'a block of the P-chain', 'platform.getBlock', { blockID: 'abc' }, { block: {} }],
]

describe('chains of the public catalog', () => {
  it.each(unchecked)('%s: %s', (chain, _, method, params, result) => {
    const question = { apiInterface: 'jsonrpc', method, params } as const
    expect(found(chain, question, result, publicCatalog)).toBeNull()
  })
})

function found(chain: string, question: Question, result: unknown, from = catalog) {
  const iface = from.find(chain)?.interfaces.get(question.apiInterface)
  if (!iface) throw new Error(`no ${question.apiInterface} of ${chain}`)
  // The form in which a node sends it.
  const sent = JSON.parse(JSON.stringify(result)) as unknown
  return new Integrity('core', { otherParent: () => null }).check(sent, iface.classify(question))
}
