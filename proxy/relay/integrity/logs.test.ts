// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classified, hashOf, judged, judgedAs } from './testing/judged.ts'

const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const address = `0x${'1'.repeat(40)}`
const other = `0x${'2'.repeat(40)}`
const log = (number: number, index: number, over: object = {}) => ({
  address,
  topics: [a],
  blockNumber: `0x${number.toString(16)}`,
  blockHash: hashOf(String(number % 10)),
  logIndex: `0x${index.toString(16)}`,
  transactionHash: `0x${number.toString(16).padStart(60, 'e')}${index.toString(16).padStart(4, '0')}`,
  transactionIndex: `0x${index.toString(16)}`,
  data: '0x',
  ...over,
})
const range = { fromBlock: '0x10', toBlock: '0x12' }
const manyAddresses = Array.from(
  { length: 50 },
  (_, at) => `0x${at.toString(16).padStart(40, '0')}`,
)

describe('logs that are not what was asked for', () => {
  it.each([
    ['before the range', range, [log(15, 0)], 'logs-range'],
    ['behind the range', range, [log(16, 0), log(19, 0)], 'logs-range'],
    ['before an open range', { fromBlock: '0x10', toBlock: 'latest' }, [log(15, 0)], 'logs-range'],
    [
      'behind a half open range',
      { fromBlock: 'earliest', toBlock: '0x12' },
      [log(19, 0)],
      'logs-range',
    ],
    ['without an end', { fromBlock: '0x10' }, [log(9, 0)], 'logs-range'],
    ['a height that is none', range, [log(16, 0, { blockNumber: 'x' })], 'logs-range'],
    ['of another block', { blockHash: a }, [log(16, 0, { blockHash: b })], 'logs-block'],
    [
      'of two blocks of one height',
      range,
      [log(16, 0), log(16, 1, { blockHash: b })],
      'logs-block',
    ],
    ['of another address', { ...range, address }, [log(16, 0, { address: other })], 'logs-address'],
    ['of none of the addresses', { address: [other, b] }, [log(16, 0)], 'logs-address'],
    ['of none of many addresses', { address: manyAddresses }, [log(16, 0)], 'logs-address'],
    ['without an address', { address }, [{ topics: [] }], 'logs-address'],
    ['with another topic', { topics: [b] }, [log(16, 0)], 'logs-topics'],
    ['with none of the topics', { topics: [[b, c]] }, [log(16, 0)], 'logs-topics'],
    [
      'with the topic in another place',
      { topics: [null, a] },
      [log(16, 0, { topics: [a, b] })],
      'logs-topics',
    ],
    ['with too few topics', { topics: [a, null, b] }, [log(16, 0)], 'logs-topics'],
    ['without topics', { topics: [a] }, [{ address }], 'logs-topics'],
    ['of a block that was taken back', range, [log(16, 0, { removed: true })], 'logs-block'],
    [
      'of one block at two heights',
      { blockHash: a },
      [log(16, 0, { blockHash: a }), log(17, 0, { blockHash: a })],
      'logs-block',
    ],
    [
      'of one transaction with two hashes',
      range,
      [16, 16].map((height, at) =>
        log(height, at, { transactionIndex: '0x3', transactionHash: [a, b][at] }),
      ),
      'logs-transaction',
    ],
    [
      'of two transactions with one hash',
      range,
      [16, 16].map((height, at) =>
        log(height, at, { transactionIndex: `0x${at}`, transactionHash: a }),
      ),
      'logs-transaction',
    ],
    [
      'of an earlier transaction',
      range,
      [16, 16].map((height, at) => log(height, at, { transactionIndex: ['0x3', '0x2'][at] })),
      'logs-transaction',
    ],
    ['backwards', range, [log(17, 0), log(16, 1)], 'logs-order'],
    ['backwards in a block', range, [log(16, 1), log(16, 0)], 'logs-order'],
    ['doubled', range, [log(16, 1), log(16, 1)], 'logs-order'],
    ['of no block', range, [log(16, 0, { blockNumber: null })], 'logs-range'],
    ['of no block, in a range of tags', {}, [{ address, topics: [a] }], 'logs-range'],
    [
      'of no block, by its hash',
      { blockHash: a },
      [log(1, 0, { blockNumber: null })],
      'logs-block',
    ],
    ['of no hash, by its hash', { blockHash: a }, [log(1, 0, { blockHash: null })], 'logs-block'],
    [
      'of no height, by its hash',
      { blockHash: a },
      [{ ...log(16, 0), blockHash: a, blockNumber: null }],
      'logs-range',
    ],
    ['no list', range, { logs: [] }, 'shape'],
    ['null', range, 'null', 'shape'],
    ['without an address, when any would do', range, [log(16, 0, { address: undefined })], 'shape'],
    ['of an address that is none', range, [log(16, 0, { address: 5 })], 'shape'],
    ['without a hash of the block', range, [log(16, 0, { blockHash: null })], 'shape'],
    ['without an index', range, [log(16, 0, { logIndex: null })], 'shape'],
    ['of no transaction', range, [log(16, 0, { transactionHash: undefined })], 'shape'],
    ['of a transaction without a place', range, [log(16, 0, { transactionIndex: null })], 'shape'],
    ['without data', range, [log(16, 0, { data: undefined })], 'shape'],
    ['with an object for topics', range, [log(16, 0, { topics: {} })], 'shape'],
    ['with a topic that is none', range, [log(16, 0, { topics: [''] })], 'shape'],
    ['taken back, maybe', range, [log(16, 0, { removed: 'true' })], 'shape'],
    ['a list of hashes', range, [a], 'shape'],
  ])('%s', (_case, filter, logs, check) => {
    expect(judged('eth_getLogs', [filter], logs)?.check).toBe(check)
    expect(judged('eth_getLogs', { filter }, logs)?.check).toBe(check)
  })
})

describe('logs that are what was asked for', () => {
  const upper = `0x${address.slice(2).toUpperCase()}`
  it.each([
    ['none', range, []],
    ['in order', range, [log(16, 3), log(16, 7), log(17, 0), log(18, 1)]],
    ['of a range that a tag ends', { fromBlock: '0x10', toBlock: 'latest' }, [log(99, 0)]],
    ['of tags', { fromBlock: 'latest', toBlock: 'latest' }, [log(99, 0), log(100, 0)]],
    ['of the default range', {}, [log(99, 0)]],
    ['of a range the wrong way round', { fromBlock: '0x12', toBlock: '0x10' }, [log(99, 0)]],
    ['of a block by its hash', { blockHash: hashOf('6') }, [log(16, 0), log(16, 1)]],
    ['of the address in upper case', { address: upper }, [log(16, 0)]],
    ['with the address in upper case', { address }, [log(16, 0, { address: upper })]],
    ['of any of no addresses', { address: [] }, [log(16, 0)]],
    ['of null for an address', { address: null, topics: null }, [log(16, 0)]],
    ['of one of many addresses', { address: [...manyAddresses, address] }, [log(16, 0)]],
    ['of an address that is none', { address: 7 }, [log(16, 0)]],
    ['with one of the topics', { topics: [[b, a]] }, [log(16, 0)]],
    ['with any topic', { topics: [null, [], [null]] }, [log(16, 0)]],
    ['with more topics', { topics: [a] }, [log(16, 0, { topics: [a, b, c] })]],
    ['without topics, when none is wanted', { topics: [] }, [log(16, 0, { topics: [] })]],
    [
      'pending',
      { toBlock: 'pending' },
      [log(0, 0, { blockNumber: null, blockHash: null, logIndex: null })],
    ],
    ['of a range that begins with pending', { fromBlock: 'pending' }, [{ address, topics: [] }]],
  ])('%s', (_case, filter, logs) => {
    expect(judged('eth_getLogs', [filter], logs)).toBeNull()
  })

  it('however many, and each lie among them is found', () => {
    const place = fc.nat({ max: 299 })
    const logs = Array.from({ length: 300 }, (_, at) => log(16 + Math.floor(at / 100), at % 100))
    fc.assert(
      fc.property(
        place,
        fc.constantFrom('address', 'blockNumber', 'logIndex', 'topics'),
        (at, field) => {
          const filter = { ...range, address, topics: [a] }
          expect(judged('eth_getLogs', [filter], logs)).toBeNull()
          const lie = { ...logs[at], [field]: field === 'topics' ? [] : '0xfffff' }
          const found = judged('eth_getLogs', [filter], logs.with(at, lie as (typeof logs)[0]))
          // The last log of a block may have any index.
          expect(found === null).toBe(field === 'logIndex' && at % 100 === 99)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('logs of one block that are numbered', () => {
  /** Words such as `5.0` or `5.0a`: the places of a transaction and of a log in it; `a`: under this hash. */
  const logsOf = (words: string) =>
    words.split(' ').map((word) => {
      const [, transaction = '', index = '', hash = ''] = /^(\d)\.(\d)(\w?)$/.exec(word) ?? []
      const transactionHash = hashOf(hash || transaction)
      return log(16, Number(index), { transactionIndex: `0x${transaction}`, transactionHash })
    })
  const inBlock = classified('eth_getLogs', [range])
  const inTransaction = {
    ...inBlock,
    checks: inBlock.checks.map(({ rule, wanted }) => ({
      rule: rule.check === 'logs' ? ({ ...rule, indexIn: 'transaction' } as const) : rule,
      wanted,
    })),
  }

  it.each([
    ['through the block', '5.0 6.1 6.2', null, null],
    ['in each transaction, as by Hedera', '5.0 6.0 6.1', 'logs-order', null],
    ['in each, of which not all is wanted', '5.3 5.4 6.2 9.0', 'logs-order', null],
    ['doubled', '5.0 6.0 6.0', 'logs-order', 'logs-order'],
    ['doubled, under another hash', '6.0a 6.0b', 'logs-order', 'logs-order'],
    ['a transaction twice', '5.0 5.1 5.0 5.1', 'logs-order', 'logs-order'],
    ['transactions backwards', '6.0 5.0', 'logs-order', 'logs-order'],
    ['transactions backwards, logs on', '6.0 5.1', 'logs-transaction', 'logs-transaction'],
    ['logs of a transaction backwards', '6.1 6.0', 'logs-order', 'logs-order'],
    ['two transactions with one hash', '5.0a 6.0a', 'logs-order', 'logs-transaction'],
  ])('%s', (_case, words, ofBlock, ofTransaction) => {
    expect(judgedAs(inBlock, logsOf(words))?.check ?? null).toBe(ofBlock)
    expect(judgedAs(inTransaction, logsOf(words))?.check ?? null).toBe(ofTransaction)
  })

  it.each([
    ['other hashes', [a, b], null],
    ['no hashes', [], null],
    ['one hash', [a, a], 'logs-order'],
  ])('anew, where no place of a transaction is told: %s', (_case, hashes, check) => {
    const { block } = classified('eth_getLogs', [{ fromBlock: '0x10', toBlock: 'pending' }])
    const logs = [0, 1].map((at) =>
      log(16, 0, { transactionIndex: null, transactionHash: hashes[at] }),
    )
    expect(judgedAs({ ...inTransaction, block }, logs)?.check ?? null).toBe(check)
  })
})
