// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readQuery } from './tendermint-query.ts'
import { judgeOf } from './tendermint-condition.ts'
import type { Attributes } from './tendermint-event.ts'

function isTold(query: string, attributes: Attributes): boolean {
  return readQuery(query).conditions.every((each) => judgeOf(each)(attributes))
}

const attributes = {
  'tm.event': ['Tx'],
  'tx.height': ['12'],
  'tx.hash': ['AB'],
  'transfer.amount': ['7uatom', '9007199254740993uatom,5stake'],
  'transfer.recipient': ['wasm1abc0'],
  'unbond.completion_time': ['2026-12-12T17:14:40.000000001+01:00'],
  'unbond.day': ['2026-12-12'],
  'a.b.c': ['-5', '+5', ' 5', '0.5x', '1.50', '007', '1e3'],
  'big.exact': ['123456789012345678901234567890123456789012345678901234567890'],
}

// What CometBFT 0.39 answered to each.
const conditions: [string, boolean][] = [
  ['transfer EXISTS', true],
  ['tx EXISTS', true],
  ['unbond EXISTS', true],
  ['trans EXISTS', false],
  ['constructor EXISTS', false],
  ['transfer.amount EXISTS', true],
  ['transfer.none EXISTS', false],
  ['a EXISTS', false],
  ['a.b EXISTS', true],
  ['a.b.c EXISTS', true],
  ["transfer=''", true],
  ["transfer CONTAINS ''", true],
  ["transfer.none CONTAINS ''", false],
  ["transfer='x'", false],
  ['transfer>0', false],
  ["transfer.recipient='wasm1abc0'", true],
  ["transfer.recipient='wasm1'", false],
  ["transfer.recipient CONTAINS 'sm1'", true],
  ["transfer.recipient CONTAINS 'SM1'", false],
  ['transfer.recipient > 0', false],
  ['transfer.recipient >= 0', false],
  ['transfer.amount=7', true],
  ['transfer.amount=7.0', true],
  ['transfer.amount=7.', true],
  ["transfer.amount='7'", false],
  ['transfer.amount=5', false],
  ['transfer.amount=9007199254740992', false],
  ['transfer.amount=9007199254740993', true],
  ['transfer.amount>9007199254740992.5', true],
  ['transfer.amount<7', false],
  ['transfer.amount<=7', true],
  ['tx.height>0.5', true],
  ['tx.height>=12', true],
  ['tx.height>12', false],
  ['tx.height=012', true],
  ['a.b.c=5', false],
  ['a.b.c=0.5', true],
  ['a.b.c<0.5', false],
  ['a.b.c=1.5', true],
  ['a.b.c=7', true],
  ['a.b.c=1', true],
  ['a.b.c=1000', false],
  ['big.exact=123456789012345678901234567890123456789012345678901234567890', true],
  ['big.exact>123456789012345678901234567890123456789012345678901234567889', true],
  ['big.exact=123456789012345678901234567890123456789012345678901234567891', false],
  ['unbond.completion_time > TIME 2020-01-01T00:00:00Z', true],
  ['unbond.completion_time > TIME 2026-12-12T16:14:40Z', true],
  ['unbond.completion_time > TIME 2026-12-12T11:14:41-05:00', false],
  ['unbond.completion_time <= TIME 2026-12-12T17:14:40Z', true],
  ['unbond.completion_time = TIME 2026-12-12T16:14:40Z', false],
  ['unbond.completion_time >= DATE 2020-01-01', false],
  ['unbond.day >= DATE 2020-01-01', true],
  ['unbond.day = DATE 2026-12-12', true],
  ['unbond.day < DATE 2026-12-12', false],
  ['unbond.day > TIME 2020-01-01T00:00:00Z', false],
  ['tx.height > TIME 2020-01-01T00:00:00Z', false],
]
test.each(conditions)('%s: %s', (query, wanted) => {
  expect(isTold(query, attributes)).toBe(wanted)
})

describe('numbers', () => {
  const amount = fc.bigInt({ min: 0n, max: 1n << 124n })

  test('up to 124 bits compare as what they are, with a unit or without', () => {
    const unit = fc.constantFrom('', 'uatom', '/x', ' 5', '.')
    fc.assert(
      fc.property(amount, amount, unit, (value, wanted, rest) => {
        const told = { 'a.b': [`${value}${rest}`] }
        expect(isTold(`a.b<${wanted}`, told)).toBe(value < wanted)
        expect(isTold(`a.b>=${wanted}`, told)).toBe(value >= wanted)
        expect(isTold(`a.b=${value}`, told)).toBe(true)
        expect(isTold(`a.b=${value + 1n}`, told)).toBe(false)
      }),
    )
  })

  test('with eighteen places compare as what they are', () => {
    const places = (value: bigint) =>
      `${value / 10n ** 18n}.${String(value % 10n ** 18n).padStart(18, '0')}`
    const most = fc.bigInt({ min: 0n, max: 10n ** 36n })
    fc.assert(
      fc.property(most, most, (value, wanted) => {
        const told = { 'a.b': [`${places(value)}uatom`] }
        expect(isTold(`a.b<=${places(wanted)}`, told)).toBe(value <= wanted)
        expect(isTold(`a.b>${places(wanted)}`, told)).toBe(value > wanted)
        expect(isTold(`a.b=${places(value)}000`, told)).toBe(true)
        expect(isTold(`a.b=${places(value + 1n)}`, told)).toBe(false)
      }),
    )
  })

  // Whoever compares them exactly tells of what a node keeps to itself. As math/big has it.
  const rounded: [string, string, boolean][] = [
    [`${(1n << 126n) + 1n}uatom`, String(1n << 126n), true],
    [String((1n << 126n) + 1n), String(1n << 126n), false],
    [`1.${'0'.repeat(60)}1`, '1', true],
    [`0.${'3'.repeat(200)}`, `0.${'3'.repeat(300)}`, true],
  ]
  test.each(rounded)('%s = %s as for a node: %s', (value, wanted, isEqual) => {
    expect(isTold(`a.b=${wanted}`, { 'a.b': [value] })).toBe(isEqual)
  })
})

test('points in time compare as what they are, in whichever zone they are told', () => {
  const point = fc.date({
    min: new Date('1900-01-02'),
    max: new Date('2999-12-30'),
    noInvalidDate: true,
  })
  const minutes = fc.integer({ min: -14 * 60, max: 14 * 60 })
  fc.assert(
    fc.property(point, point, minutes, (value, wanted, offset) => {
      const local = new Date(value.getTime() + offset * 60_000).toISOString().slice(0, -1)
      const two = (part: number) => String(Math.floor(part)).padStart(2, '0')
      const zone = `${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`
      const told = { 'a.b': [`${local}${offset < 0 ? '-' : '+'}${zone}`] }
      const seconds = new Date(Math.floor(wanted.getTime() / 1_000) * 1_000)
      const query = `TIME ${seconds.toISOString().slice(0, 19)}Z`
      expect(isTold(`a.b<${query}`, told)).toBe(value < seconds)
      expect(isTold(`a.b>=${query}`, told)).toBe(value >= seconds)
    }),
  )
})

test('of several values of one attribute any will do, and all conditions must hold', () => {
  const values = fc.array(fc.nat(9), { minLength: 1 })
  fc.assert(
    fc.property(values, fc.nat(9), fc.nat(9), (list, least, most) => {
      const told = { 'a.b': list.map(String) }
      expect(isTold(`a.b>=${least} AND a.b<=${most}`, told)).toBe(
        list.some((each) => each >= least) && list.some((each) => each <= most),
      )
    }),
  )
})
