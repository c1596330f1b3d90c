// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ReferenceData, secretData } from './reference-data.ts'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { hashSecrets } from './rendered-config.ts'

type Texts = Readonly<Record<string, string>>

function dataOf(secrets: Readonly<Record<string, Texts>>, uid = 'a uid'): ReferenceData {
  return {
    secret: (name) => {
      const stringData = secrets[name]
      return stringData === undefined ? null : secretData({ stringData, uid })
    },
    configMap: () => null,
  }
}

const used = [
  { name: 'one', key: 'key' },
  { name: 'two', key: 'key' },
]
const hashesOf = (secrets: Readonly<Record<string, Texts>>, uid?: string) =>
  hashSecrets(used, dataOf(secrets, uid))

const now = hashesOf({ one: { key: 'guessable' }, two: { key: 'b' } })

test('a changed value changes only its own hash', () => {
  const after = hashesOf({ one: { key: 'guessable' }, two: { key: 'c' } })
  const [first, second] = now.keys()
  expect(after.get(first ?? '')).toBe(now.get(first ?? ''))
  expect(after.get(second ?? '')).not.toBe(now.get(second ?? ''))
})

test('another key of the Secret does not change the hashes', () => {
  expect(hashesOf({ one: { key: 'guessable', more: 'x' }, two: { key: 'b' } })).toEqual(now)
})

test('without the uid of the Secret, a hash does not allow guessing the value', () => {
  const other = hashesOf({ one: { key: 'guessable' }, two: { key: 'b' } }, 'another uid')
  expect([...other.values()].some((hash) => [...now.values()].includes(hash))).toBe(false)
  const plain = createHash('sha256').update('guessable').digest('hex').slice(0, 16)
  expect([...now.values()]).not.toContain(plain)
})

test('without a uid the hash is empty', () => {
  const hashes = hashSecrets(used, {
    ...dataOf({}),
    secret: () => secretData({ stringData: { key: 'guessable' } }),
  })
  expect([...hashes.values()]).toEqual(['', ''])
})

test('a config that no ConfigMap can hold is refused with what to do', () => {
  const providers = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => {
        const url = `https://node-${at}.example/${'a'.repeat(1_000)}`
        return [`node-${at}`, { nodeUrls: [{ url }] }]
      }),
    )
  const translated = (count: number) =>
    translateScenario(readScenario(JSON.stringify({ providers: providers(count) })))
  expect(translated(100).refusals).toEqual([])
  const { config, refusals } = translated(1_000)
  expect(config).toBeNull()
  expect(refusals).toEqual([
    {
      reason: 'InvalidConfig',
      field: '',
      message: expect.stringMatching(
        /^the config takes 1\d{3} KiB, .* but a ConfigMap holds 1024 KiB: move some endpoints .* to another RpcRouter$/,
      ),
    },
  ])
})
