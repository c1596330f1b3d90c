// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { ethereum } from '../testing/relay-fixture.ts'
import { AbridgedResult } from './abridged-result.ts'
import { BlockMemory } from './block-memory.ts'
import { LongResult } from './long-result.ts'
import { hashOf } from './testing/judged.ts'

const { iface } = await ethereum()
const [a, b, c] = ['a', 'b', 'c'].map(hashOf) as [string, string, string]
const address = `0x${'1'.repeat(40)}`
const longer = 1_300_000
const pad = `"x":"${'y'.repeat(longer)}"`

/** A result in pieces of 64 KiB: what is found, and whether by its first MiB. */
function found(method: string, params: unknown, text: string | Iterable<string>) {
  const { checks, block } = iface.classify({ apiInterface: 'jsonrpc', method, params })
  const asked = { checks, block, upstream: 'a', skipVerifications: [], horizon: () => null }
  const result = new LongResult(asked, new BlockMemory())
  let passed = 0
  let isBegun = false
  for (const part of typeof text === 'string' ? [text] : text) {
    const bytes = Buffer.from(part)
    for (let at = 0; at < bytes.length; at += 65_536) {
      const piece = bytes.subarray(at, at + 65_536)
      passed += piece.length
      let seen = result.push(piece)
      if (!isBegun && passed > 1_048_576) {
        isBegun = true
        seen ??= result.checkBeginning()
        if (seen) return `${seen.check}, at once`
      }
      if (seen) return `${seen.check}, later`
    }
  }
  return result.end()?.check ?? null
}

const block = (over: object) =>
  JSON.stringify({
    ...{ number: '0x10', hash: a, parentHash: b, gasUsed: '0x0', timestamp: '0x1' },
    transactions: [],
    ...over,
  })
const inside = (object: string) => `${object.slice(0, -1)},${pad}}`
const before = (object: string) => `{${pad},${object.slice(1)}`
const byNumber = ['eth_getBlockByNumber', ['0x10', false]] as const
const byHash = ['eth_getBlockByHash', [a, false]] as const
const receipt = ['eth_getTransactionReceipt', [c]] as const

describe('an object that is longer than what is held', () => {
  it.each([
    ['of another number', byNumber, block({ number: '0x11' }), 'block-number'],
    ['of another hash', byHash, block({ hash: b }), 'block-hash'],
    ['of another transaction', receipt, JSON.stringify({ transactionHash: a }), 'identity'],
  ] as const)('%s', (_case, [method, params], object, check) => {
    expect(found(method, params, inside(object))).toBe(`${check}, at once`)
    expect(found(method, params, before(object))).toBe(`${check}, later`)
  })

  it.each([
    ['without the number', inside('{"hash":"0x1"}'), 'block-number, later'],
    [
      'that tells its number twice',
      `${inside(block({})).slice(0, -1)},"number":"0x11"}`,
      'block-number, later',
    ],
    [
      'that spells it otherwise',
      `${inside(block({})).slice(0, -1)},"n\\u0075mber":"0x11"}`,
      'block-number, later',
    ],
    [
      'with a number of a million digits',
      `{"number":${'1'.repeat(longer)}}`,
      'block-number, at once',
    ],
    [
      'with a number of a million letters',
      `{"number":"0x${'1'.repeat(longer)}"}`,
      'block-number, at once',
    ],
    ['that is right', inside(block({})), null],
    ['that is right at its end', before(block({})), null],
    ['with the same within another member', inside(block({ y: { number: '0x11' } })), null],
    ['with braces in its texts', inside(block({ y: '}]{[\\",:' })), null],
  ])('%s', (_case, text, expected) => {
    expect(found(...byNumber, text)).toBe(expected)
  })
})

test.each([
  ['a balance', 'eth_getBalance', [address, 'latest'], `"0x${'1'.repeat(longer)}"`],
  ['a balance that is an object', 'eth_getBalance', [address, 'latest'], `{${pad}}`],
  ['a chain id', 'eth_chainId', [], `"0x1${'0'.repeat(longer)}"`],
  ['a chain id that is a list', 'eth_chainId', [], `["0x1","${'0'.repeat(longer)}"]`],
  ['logs that are no list', 'eth_getLogs', [{}], `{${pad}}`],
])('%s is not so long', (_case, method, params, text) => {
  expect(found(method, params, text)).toMatch(/^(?:shape|chain), at once$/)
})

const log = (number: number, index: number, over: object = {}) => ({
  address,
  topics: [a],
  blockNumber: `0x${number.toString(16)}`,
  blockHash: `0x${number.toString(16).padStart(64, '0')}`,
  logIndex: `0x${index.toString(16)}`,
  transactionHash: `0x${index.toString(16).padStart(64, '0')}`,
  transactionIndex: `0x${index.toString(16)}`,
  data: `0x${'e'.repeat(500)}`,
  ...over,
})

/** Four logs a block, 6 MB of them; one is changed. */
function* logs(change: (at: number) => object | null = () => null) {
  yield '['
  for (let at = 0; at < 6_000; at++) {
    const each = log(1_000 + (at >> 2), at & 3, change(at) ?? {})
    yield `${at === 0 ? '' : ','}${JSON.stringify(each)}`
  }
  yield ']'
}

const filter = [{ address, topics: [a], fromBlock: '0x1', toBlock: '0xfff' }]

describe('a list of logs that is longer than what is held', () => {
  it.each([
    ['outside of the range', { blockNumber: '0x1000' }, 'logs-range'],
    ['of another address', { address: b }, 'logs-address'],
    ['of another topic', { topics: [b] }, 'logs-topics'],
    ['that was taken back', { removed: true }, 'logs-block'],
    ['out of order', { blockNumber: '0x2' }, 'logs-order'],
  ])('%s', (_case, over, check) => {
    const at = (index: number) => [...logs((each) => (each === index ? over : null))]
    expect(found('eth_getLogs', filter, at(1))).toBe(`${check}, later`)
    expect(found('eth_getLogs', filter, at(1_200))).toBe(`${check}, later`)
    expect(found('eth_getLogs', filter, at(5_999))).toBe(`${check}, later`)
  })

  it('is right', () => {
    expect(found('eth_getLogs', filter, logs())).toBeNull()
  })

  it('is held in parts that do not grow with it', () => {
    const sizes: number[] = []
    const kept = new AbridgedResult(new Set(['address', 'topics']), [[]], 65_536, (part) => {
      sizes.push(part.bytes.length)
    })
    for (const text of logs()) kept.push(Buffer.from(text))
    expect(sizes.length).toBeGreaterThan(10)
    expect(Math.max(...sizes)).toBeLessThan(70_000)
  })
})

describe('a block whose transactions are longer than what is held', () => {
  const text = (change: (at: number) => object, tail = '') => {
    const transactions = Array.from({ length: 3_000 }, (_, at) => ({
      blockHash: a,
      blockNumber: '0x10',
      hash: `0x${at.toString(16).padStart(64, '0')}`,
      transactionIndex: `0x${at.toString(16)}`,
      from: address,
      input: `0x${'0'.repeat(600)}`,
      ...change(at),
    }))
    return `${block({ transactions }).slice(0, -1)}${tail}}`
  }

  it.each([
    ['is right', () => ({}), '', null],
    [
      'one is left out',
      (at: number) => (at < 2_900 ? {} : { transactionIndex: `0x${(at + 1).toString(16)}` }),
      '',
      'items-order',
    ],
    [
      'one is of another block',
      (at: number) => (at === 2_950 ? { blockHash: b } : {}),
      '',
      'items-alike',
    ],
    ['the block tells another hash behind them', () => ({}), `,"hash":"${c}"`, 'items-alike'],
    ['the block tells another number behind them', () => ({}), ',"number":"0x11"', 'block-number'],
  ] as const)('%s', (_case, change, tail, check) => {
    const seen = found('eth_getBlockByNumber', ['0x10', true], text(change, tail))
    expect(seen).toBe(check && `${check}, later`)
  })

  it('has one item with more than is ever held', () => {
    const logs = Array.from({ length: 30_000 }, (_, at) =>
      log(16, at, { data: '0x', blockHash: a, transactionHash: b, transactionIndex: '0x0' }),
    )
    const own = { transactionHash: b, logsBloom: `0x${'0'.repeat(512)}` }
    const each = { ...own, blockHash: a, blockNumber: '0x10', transactionIndex: '0x0', logs }
    const list = JSON.stringify([
      each,
      { ...each, logs: [], transactionHash: c, transactionIndex: '0x1' },
    ])
    expect(found('eth_getBlockReceipts', ['0x10'], list)).toBeNull()
    const other = list.replace(
      '"0x10","transactionIndex":"0x1","logs":[]',
      '"0x11","transactionIndex":"0x1","logs":[]',
    )
    expect(found('eth_getBlockReceipts', ['0x10'], other)).toMatch(/^items-/)
    const endless = `{"number":"0x1",${'"number":"0x10",'.repeat(600_000)}"hash":"${a}"}`
    expect(found(...byNumber, endless)).toBe('shape, later')
  })
})
