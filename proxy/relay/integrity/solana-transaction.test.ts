// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getBase58Decoder, getTransactionDecoder } from '@solana/kit'
import { expect, it } from 'vitest'
import { firstSignature } from './solana-transaction.ts'
import { solanaTransaction } from './testing/solana-transaction.ts'

const base58 = (bytes: Uint8Array) => getBase58Decoder().decode(bytes)
const plain = solanaTransaction({})
const two = solanaTransaction({ signatures: 2 })
const versioned = solanaTransaction({ version: 0, dataBytes: 300 })

it.each([
  ['one', plain],
  ['two signatures', two],
  ['a version, and lookup tables', versioned],
])('a transaction of %s is named by its first signature', (_name, wire) => {
  // It is one to Solana's own library.
  const [first] = Object.values(getTransactionDecoder().decode(wire).signatures)
  const signature = base58(first as Uint8Array)
  expect(firstSignature(wire.toString('base64'))).toBe(signature)
  expect(firstSignature(base58(wire))).toBe(signature)
})

it('is told with the zeros that it begins with', () => {
  const wire = solanaTransaction({ first: 0 })
  expect(firstSignature(wire.toString('base64'))).toMatch(/^1[2-9A-HJ-NP-Za-km-z]/)
  expect(firstSignature(base58(wire))).toBe(base58(wire.subarray(1, 65)))
})

const inBase64 = (...parts: Uint8Array[]) => Buffer.concat(parts).toString('base64')
it.each([
  ['nothing', ''],
  ['no text of either', '!'],
  ['a byte less', inBase64(versioned.subarray(0, -1))],
  ['a byte more', inBase64(plain, Buffer.of(0))],
  ['no signature', inBase64(Buffer.of(0), plain.subarray(65))],
  [
    'more signers than signatures',
    inBase64(plain.subarray(0, 65), Buffer.of(2), plain.subarray(66)),
  ],
  ['an unknown version', solanaTransaction({ version: 1 }).toString('base64')],
  ['far too much', 'A'.repeat(10_000)],
])('%s is none', (_name, text) => {
  expect(firstSignature(text)).toBeNull()
})
