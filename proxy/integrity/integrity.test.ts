// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { checkSchema } from '../chain/native/schema.ts'
import type { BlockRef } from '../chain/types.ts'
import { Integrity } from './integrity.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const address = (digit: string) => `0x${digit.repeat(40)}`
const number = (height: number): BlockRef => ({ kind: 'number', number: height })

interface Case {
  readonly rule: unknown
  readonly block?: BlockRef
  readonly wanted?: unknown
  readonly result: unknown
}

function check({ rule, block = { kind: 'none' }, wanted, result }: Case): string | null {
  const checks = [{ rule: checkSchema.parse(rule), wanted: () => wanted }]
  return new Integrity('core').check(result, { checks, block })?.check ?? null
}

const ofBlock = { check: 'block', number: ['number'], hash: ['hash'] }
const ofTransaction = { check: 'identity', param: 0, result: ['hash'] }
const ofLogs = { check: 'logs', param: 0 }
const ofParentSlot = { check: 'block', number: ['parentSlot'], older: 100 }
const range: BlockRef = {
  kind: 'range',
  from: { kind: 'number', number: 0 },
  to: { kind: 'number', number: 16 },
}

describe('an answer about something else', () => {
  it.each<[string, Case]>([
    ['block-number', { rule: ofBlock, block: number(16), result: { number: '0x11' } }],
    [
      'block-hash',
      { rule: ofBlock, block: { kind: 'hash', hash: hash('a') }, result: { hash: hash('b') } },
    ],
    ['block-number', { rule: ofParentSlot, block: number(500), result: { parentSlot: 501 } }],
    ['block-number', { rule: ofParentSlot, block: number(500), result: { parentSlot: 399 } }],
    ['block-number', { rule: ofParentSlot, block: number(1), result: { parentSlot: 2 } }],
    ['logs-range', { rule: ofLogs, wanted: {}, block: range, result: [{ blockNumber: '0x11' }] }],
    ['identity', { rule: ofTransaction, wanted: hash('a'), result: { hash: hash('b') } }],
    [
      'logs-address',
      {
        rule: ofLogs,
        wanted: { address: address('a') },
        result: [{ address: address('a') }, { address: address('b') }],
      },
    ],
    [
      'sent-hash',
      {
        rule: { check: 'sent', param: 0, digest: 'keccak256' },
        wanted: '0x02c101',
        result: hash('a'),
      },
    ],
  ])('%s', (name, wrong) => {
    expect(check(wrong)).toBe(name)
  })

  it('a block that is shown with another parent than before', () => {
    const rule = checkSchema.parse({ check: 'parent', hash: ['hash'], parent: ['parentHash'] })
    const asked = { checks: [{ rule, wanted: null }], block: number(1) }
    const integrity = new Integrity('core')
    const shown = (parentHash: string) =>
      integrity.check({ hash: hash('a'), parentHash }, asked)?.check ?? null
    expect([shown(hash('b')), shown(hash('b')), shown(hash('c')), shown(hash('c'))]).toEqual([
      null,
      null,
      'parent',
      null,
    ])
  })
})
