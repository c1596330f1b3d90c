// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { keccak256 } from '../integrity/keccak256.ts'
import { KnownTransactions, type SentStore } from './known-transactions.ts'
import { ethereum, nodeError, RelayFixture, result, scripted } from './testing/relay-fixture.ts'

const { chain, iface } = await ethereum()
const raw = `0xf86c${'80'.repeat(0x6c)}`
const write = { method: 'eth_sendRawTransaction', params: [raw] }
const accepted = result(`0x${keccak256(Buffer.from(raw.slice(2), 'hex')).toString('hex')}`)

/** A replica over nodes with this answer. */
function replica(answer: ReturnType<typeof result>, store: SentStore, name = 'ETH1') {
  const known = new KnownTransactions(store, name)
  return new RelayFixture(chain, iface, scripted({ a: answer, b: answer, c: answer }), { known })
}

function memory() {
  const values = new Map<string, Buffer>()
  const store: SentStore = {
    get: (key) => Promise.resolve({ value: values.get(key) }),
    set: (key, value) => Promise.resolve(values.set(key, value)),
  }
  return { values, store }
}

it.each(['already known', 'nonce too low'])(
  'a transaction that another replica sent gets its first answer when nodes report: %s',
  async (message) => {
    const { store } = memory()
    expect((await replica(accepted, store).ask(write)).outcome).toBe(accepted.body)
    const again = await replica(nodeError(-32000, message), store).ask(write)
    expect(again.outcome).toBe(accepted.body)
  },
)

it('hex in upper case denotes the same transaction', async () => {
  const { store } = memory()
  await replica(accepted, store).ask(write)
  const capitals = { ...write, params: [`0x${raw.slice(2).toUpperCase()}`] }
  const again = await replica(nodeError(-32000, 'already known'), store).ask(capitals)
  expect(again.outcome).toBe(accepted.body)
})

test.each([
  ['another transaction', { ...write, params: [`${raw}00`] }, 'ETH1', 'already known'],
  ['another chain', write, 'BASE', 'already known'],
  ['another refusal', write, 'ETH1', 'insufficient funds for gas * price + value'],
])('%s gets no stored answer', async (_, request, name, message) => {
  const { store } = memory()
  await replica(accepted, store).ask(write)
  const again = await replica(nodeError(-32000, message), store, name).ask(request)
  expect(again.outcome).toContain(message)
})

it('a hash of another transaction is never shared, even if two nodes agree', async () => {
  const { store, values } = memory()
  const wrong = result(`0x${'ab'.repeat(32)}`)
  expect((await replica(wrong, store).ask(write)).outcome).toBe(wrong.body)
  expect(values.size).toBe(0)
  const again = await replica(nodeError(-32000, 'already known'), store).ask(write)
  expect(again.outcome).toContain('already known')
})

const fails = () => Promise.reject(new Error('down'))

test.each<[string, Partial<SentStore>]>([
  ['is down', { get: fails, set: fails }],
  ['contains garbage', { get: () => Promise.resolve({ value: Buffer.from('{') }) }],
  ...[
    ...['', 'null', '[]', '"0x1"', '{"a":1}', '{"status":200}', '{"status":200,"result":null}'],
    ...['{"status":"200","result":"0x1"}', '{"status":500,"result":"0x1"}', '\xff\xfe'],
    ...['{"status":99999,"result":"0x1"}', '{"status":200.5,"result":"0x1"}', '{"result":"0x1"}'],
  ].map((text): [string, Partial<SentStore>] => [
    `has ${text}`,
    { get: () => Promise.resolve({ value: Buffer.from(text, 'latin1') }) },
  ]),
])('a store that %s changes nothing', async (_, broken) => {
  const store = { ...memory().store, ...broken }
  expect((await replica(accepted, store).ask(write)).outcome).toBe(accepted.body)
  const again = await replica(nodeError(-32000, 'already known'), store).ask(write)
  expect(again.outcome).toContain('already known')
})

it('a write goes to the store once and a read never does', async () => {
  const { store } = memory()
  const requests: string[] = []
  const counted: SentStore = {
    get: (key) => (requests.push('get'), store.get(key)),
    set: (...all) => (requests.push('set'), store.set(...all)),
  }
  const fixture = replica(accepted, counted)
  await fixture.ask(write)
  await fixture.clock.advance(100)
  await fixture.ask()
  expect(requests).toEqual(['set'])
})
