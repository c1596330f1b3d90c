// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import type { Script } from '../upstream/testing/scripted-transport.ts'
import { ethereum, RelayFixture, result } from './testing/relay-fixture.ts'

const hex = (block: number) => `0x${block.toString(16)}`

/** A chain of the bundled specs with its call for the latest block number. */
async function asking(
  id: string,
  method: string,
  params: unknown[],
  write: (block: number) => string = String,
) {
  const chain = (await loadCatalog([])).find(id)!
  return { chain, iface: chain.interfaces.get('jsonrpc')!, method, params, write }
}

const confirmed = { commitment: 'confirmed' }
const chains = [
  await asking('ETH1', 'eth_blockNumber', [], (block) => JSON.stringify(hex(block))),
  await asking('BTC', 'getblockcount', []),
  await asking('SLOTCHAIN', 'getSlot', [confirmed]),
]

type Asking = (typeof chains)[0]

function fixtureOf({ chain, iface, write }: Asking, heads: Record<string, () => number>) {
  const script =
    (head: () => number): Script =>
    () => ({ body: `{"jsonrpc":"2.0","id":1,"result":${write(head())}}` })
  const nodes = Object.entries(heads).map(
    ([name, head]) => [name, { script: script(head) }] as const,
  )
  return new RelayFixture(chain, iface, Object.fromEntries(nodes))
}

const numberIn = (outcome: string) => Number((JSON.parse(outcome) as { result: unknown }).result)

describe.each(chains)('$method', (request) => {
  const { method, params, chain } = request

  it.each([
    ['one URL whose head fluctuates by one', 1, 'a'],
    ['one URL whose head fluctuates by five', 5, 'a'],
    ['three URLs whose heads fluctuate', 2, 'abc'],
  ])('is monotonic over 300 calls: %s', async (_, by, names) => {
    const random = seededRandom(3)
    const top = () => 1_000 + Math.floor(relay.clock.nowMs() / chain.blockTimeMs)
    const head = () => top() - Math.floor(random.next() * (by + 1))
    const relay = fixtureOf(request, Object.fromEntries([...names].map((name) => [name, head])))
    const numbers: number[] = []
    for (let each = 0; each < 300; each++) {
      numbers.push(numberIn((await relay.ask({ method, params })).outcome))
      expect(numbers.at(-1)).toBeLessThanOrEqual(top())
      await relay.clock.advance(chain.blockTimeMs / 7)
    }
    expect(numbers.filter((number, at) => number < numbers[at - 1]!)).toEqual([])
    expect(numbers.at(-1)).toBeGreaterThanOrEqual(top() - by)
  })

  it.each([
    ['one of three is ahead', { a: 1_010, b: 1_000, c: 1_000 }],
    ['one of three is ahead and answers last', { a: 1_000, b: 1_000, c: 1_010 }],
    ['all three differ', { a: 1_000, b: 1_010, c: 1_005 }],
  ])('is monotonic when heads differ by more than the allowed lag: %s', async (_, heights) => {
    const heads = Object.entries(heights).map(([name, head]) => [name, () => head] as const)
    const relay = fixtureOf(request, Object.fromEntries(heads))
    for (const each of relay.pool.upstreams)
      relay.pool.observeHead(each, 1_000, relay.clock.nowMs(), each.urls[0]!)
    await relay.clock.advance(chain.blockTimeMs)
    const numbers: number[] = []
    for (let each = 0; each < 12; each++) {
      numbers.push(numberIn((await relay.ask({ method, params })).outcome))
      await relay.clock.advance(100)
    }
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
    expect(numbers.at(-1)).toBe(1_010)
  })

  it('is not below the `rpc-min-block` of its call, long after a node reached that block', async () => {
    const heads = [100, 90]
    const relay = fixtureOf(request, { a: () => heads.shift()! })
    await relay.ask({ method, params })
    await relay.clock.advance(60_000 + 3 * chain.blockTimeMs)
    const { outcome } = await relay.ask({ method, params, directives: { minBlock: 100 } })
    expect(numberIn(outcome)).toBe(100)
  })

  it('keeps the format of the answer without another attempt', async () => {
    const heads = [100, 99]
    const relay = fixtureOf(request, { a: () => heads.shift()! })
    const [first, second] = [
      await relay.ask({ method, params }),
      await relay.ask({ method, params }),
    ]
    expect(second.outcome).toBe(first.outcome)
    expect([relay.sent, second.tookMs]).toEqual([{ a: 2 }, 10])
    // Clients copy the header to `rpc-min-block`, so it must not be below the block they read.
    expect(second.latestBlock).toBe(100)
  })

  it('does not go back after an answer that returns its upstream to service', async () => {
    const relay = fixtureOf(request, { a: () => 102, b: () => 100 })
    const { availability } = relay.pool.upstreams[0]!
    const ask = async (selectProvider: string | null) =>
      numberIn((await relay.ask({ method, params, directives: { selectProvider } })).outcome)
    expect(await ask('b')).toBe(100)
    availability.failed(5, 'test')
    expect(await ask('a')).toBe(102)
    availability.failed(5, 'test')
    expect(await ask(null)).toBe(102)
  })

  it('falls back if nothing confirms the block for three block times', async () => {
    const heads = [100, 99, 99]
    const relay = fixtureOf(request, { a: () => heads.shift()! })
    const ask = async () => numberIn((await relay.ask({ method, params })).outcome)
    expect([await ask(), await ask()]).toEqual([100, 100])
    await relay.clock.advance(Math.max(3 * chain.blockTimeMs, 3_000))
    expect(await ask()).toBe(99)
  })

  it.each([{ selectProvider: 'b' }, { only: ['b'] }])(
    'matches the upstream that the client selected: %j',
    async (directives) => {
      const relay = fixtureOf(request, { a: () => 100, b: () => 99 })
      await relay.ask({ method, params })
      expect(numberIn((await relay.ask({ method, params, directives })).outcome)).toBe(99)
    },
  )

  it('is at least rpc-min-block, even with a selected upstream', async () => {
    const heads = [100, 99]
    const relay = fixtureOf(request, { a: () => heads.shift()! })
    const directives = { selectProvider: 'a', minBlock: 100 }
    await relay.ask({ method, params })
    expect(numberIn((await relay.ask({ method, params, directives })).outcome)).toBe(100)
  })

  it.each(['abc', 'cab', 'acb'])('ignores the implausible head of c: %s', async (names) => {
    const heads = [...names].map((name) => [name, () => (name === 'c' ? 1_000_000 : 100)])
    const relay = fixtureOf(request, Object.fromEntries(heads) as Record<string, () => number>)
    for (let each = 0; each < 9; each++) {
      const { upstream, outcome } = await relay.ask({ method, params })
      const isRight = upstream === 'c' || each <= 2 || numberIn(outcome) === 100
      expect(isRight).toBe(true)
    }
  })
})

it('is unchanged on test nodes, where nothing is cacheable', async () => {
  const { chain, iface } = await ethereum()
  const classify: typeof iface.classify = (question) => ({
    ...iface.classify(question),
    cacheable: false,
  })
  const numbers = ['0x64', '0x63']
  const script = () => result(numbers.shift())
  const relay = new RelayFixture(chain, { ...iface, classify }, { a: { script } })
  const ask = () => relay.ask({ method: 'eth_blockNumber', params: [] })
  expect([await ask(), await ask()].map(({ outcome }) => numberIn(outcome))).toEqual([100, 99])
})

it('ignores the block of a preconfirmed receipt', async () => {
  const { chain, iface } = await ethereum()
  const hash = `0x${'ab'.repeat(32)}`
  const script: Script = ({ body }) =>
    String(Buffer.from(body as Uint8Array)).includes('eth_blockNumber')
      ? result('0x64')
      : result({ transactionHash: hash, blockNumber: '0x65' })
  const relay = new RelayFixture(chain, iface, { a: { script } })
  await relay.ask({ method: 'eth_getTransactionReceipt', params: [hash] })
  expect(relay.pool.tracker.highestShown).toBe(0x65)
  const { outcome } = await relay.ask({ method: 'eth_blockNumber', params: [] })
  expect(numberIn(outcome)).toBe(0x64)
})
