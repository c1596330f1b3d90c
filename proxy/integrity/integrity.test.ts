// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { checkSchema } from '../chain/native/schema.ts'
import type { BlockRef } from '../chain/types.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { toHash } from '../json/values.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import { Integrity } from './integrity.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const aTracker = () =>
  new ChainTracker({ chain: { allowedLagBlocks: 1, blockTimeMs: 1 }, clock: new VirtualClock() })
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
  return new Integrity('core', aTracker()).check(result, { checks, block })?.check ?? null
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
})

describe('a repeated block', () => {
  const zero = hash('0')
  /** Parents in successive answers about block `a`; `?` for none. Answers that pass are stored. */
  it.each<[string, string, string]>([
    ['with the same parent', 'b b', 'passes passes'],
    ['with another parent: the next answer starts over', 'b b c c', 'passes passes parent passes'],
    ['with another parent, then with the first one', 'b c b c', 'passes parent passes parent'],
    ['without its parent at first', '? b c', 'passes passes parent'],
    ['without its parent later', 'b ? b', 'passes passes passes'],
    ['with a hash of zeros as its parent', '0 0 ? 0', 'passes passes passes passes'],
    ['with a hash of zeros, then with another one', '0 b c', 'passes passes parent'],
  ])('%s', (_, parents, expected) => {
    const rule = checkSchema.parse({ check: 'parent', hash: ['hash'], parent: ['parentHash'] })
    const request = { checks: [{ rule, wanted: null }], block: number(1) }
    const tracker = aTracker()
    const integrity = new Integrity('core', tracker)
    const found = parents.split(' ').map((digit) => {
      const parentHash = digit === '?' ? null : hash(digit)
      const violation = integrity.check({ hash: hash('a'), parentHash }, request)
      if (violation) return violation.check
      const shown = { number: 1, hash: toHash(hash('a')), parent: toHash(parentHash) }
      tracker.showBlock({ ...shown, isByHash: false })
      return 'passes'
    })
    expect(found.join(' ')).toBe(expected)
  })

  it.each([{}, { hash: null }, { hash: zero }, { hash: 5, parentHash: hash('b') }])(
    'that has no hash passes: %j',
    (result) => {
      const rule = { check: 'parent', hash: ['hash'], parent: ['parentHash'] }
      expect(check({ rule, result })).toBeNull()
    },
  )
})
