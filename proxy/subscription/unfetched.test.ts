// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ethereumFamily } from './ethereum/ethereum.ts'
import { BlockChain, headOf, logsOf, type TestLog } from './testing/block-chain.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'

const blockTimeMs = 12_000
const limitMs = 360_000

type Answered = (answer: readonly TestLog[]) => unknown
const noAnswer: Answered = () => undefined

/** Ethereum with scripted `eth_getLogs`; while `isDown`, nodes neither answer nor push. */
async function setUp() {
  const chain = new BlockChain()
  const state = { logs: noAnswer, isDown: false, lacksBlocks: false }
  const fixture = await SubscriptionFixture.create({
    chainId: 'ETH1',
    family: ethereumFamily,
    answer: (method, params: never) => {
      if (state.isDown) return undefined
      if (state.lacksBlocks) return null
      const answer = chain.answer(method, params)
      return method === 'eth_getLogs' ? state.logs(answer as readonly TestLog[]) : answer
    },
  })
  const sockets = Object.values(fixture.sockets)
  const setDown = (isDown: boolean) => {
    state.isDown = isDown
    for (const socket of sockets) {
      socket.answer = isDown ? 'refused' : 'yes'
      if (isDown) socket.cut()
    }
  }
  /** Mines blocks at the chain's pace. */
  const mine = async (count: number) => {
    for (let each = 0; each < count; each++) {
      const head = headOf(chain.mine())
      for (const socket of sockets) socket.push(head)
      await fixture.clock.advance(blockTimeMs)
    }
  }
  const requestCount = () => fixture.calls.filter((call) => call.includes('eth_getLogs')).length
  const failures = () => fixture.events.filter((event) => event.startsWith('logs lacks'))
  const logs = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, at) => logsOf(chain.at(first + at)))
      .flat()
      .map((log) => JSON.stringify(log))
  return { chain, fixture, state, setDown, mine, requestCount, failures, logs }
}

const wrong: [string, Answered, number, string][] = [
  ['nodes return no list', () => null, 3, 'eth_getLogs: no usable answer from one, two'],
]

describe('when logs cannot be fetched while the chain advances', () => {
  test.each(wrong)('%s: it ends with a reason', async (_, answer, callsEach, why) => {
    const { fixture, state, mine, requestCount, failures } = await setUp()
    state.logs = answer
    const client = await fixture.join('eth_subscribe', ['logs'])
    const heads = await fixture.join('eth_subscribe', ['newHeads'])
    await mine(28)
    expect(client).toMatchObject({ texts: [], ended: null })
    await mine(3)
    const reason = 'the events of block 11 could not be fetched'
    expect(client).toMatchObject({ texts: [], ended: reason })
    expect(fixture.events).toContain(`logs ends: ${reason}`)
    expect(failures()[0]).toContain(`logs lacks the next event for 0 s: ${why}`)
    expect(failures().length).toBeGreaterThan(30)
    // At most eight blocks at a time, each every 10 s.
    expect(requestCount()).toBeLessThan((limitMs / 10_000 + 15) * callsEach * 8)
    expect(heads.ended).toBeNull()
    expect(heads.texts).toHaveLength(31)
    heads.leave()
    await fixture.clock.advance(100)
    expect(fixture.clock.pending).toBe(0)
  })

  test('logs that a chain renumbers in each transaction arrive unchanged', async () => {
    const { fixture, state, mine, logs } = await setUp()
    const numbered = (log: object) => ({ ...log, logIndex: '0x0' })
    state.logs = (answer) => answer.map(numbered)
    const client = await fixture.join('eth_subscribe', ['logs'])
    await mine(2)
    const expected = logs(11, 12).map((log) => JSON.stringify(numbered(JSON.parse(log) as object)))
    expect(client.texts).toEqual(expected)
  })

  test('all arrive in order once they are available, in quick succession', async () => {
    const { fixture, state, mine, requestCount, logs } = await setUp()
    const client = await fixture.join('eth_subscribe', ['logs'])
    await mine(20)
    state.logs = (answer) => answer
    const before = requestCount()
    await fixture.clock.advance(10_500)
    expect(client.texts).toEqual(logs(11, 30))
    expect(requestCount() - before).toBe(20)
  })
})

describe('an outage, in which no node answers or pushes anything,', () => {
  test('ends no topic', async () => {
    const { fixture, state, setDown, mine, logs } = await setUp()
    const client = await fixture.join('eth_subscribe', ['logs'])
    const heads = await fixture.join('eth_subscribe', ['newHeads'])
    await mine(1)
    setDown(true)
    await fixture.clock.advance(30 * 60_000)
    expect([client.ended, heads.ended]).toEqual([null, null])
    setDown(false)
    await fixture.clock.advance(60_000)
    // The nodes recover at different times, which resets the limit.
    await mine(20)
    expect(client).toMatchObject({ texts: [], ended: null })
    state.logs = (answer) => answer
    await fixture.clock.advance(10_500)
    expect(client.texts).toEqual(logs(11, 31))
    expect(heads.texts).toHaveLength(21)
  })
})

test('missed heads that no node has end the subscription with a reason', async () => {
  const { chain, fixture, setDown, state, mine } = await setUp()
  const heads = await fixture.join('eth_subscribe', ['newHeads'])
  await mine(1)
  chain.mine(3)
  state.lacksBlocks = true
  await mine(28)
  expect(heads).toMatchObject({ ended: null })
  await mine(4)
  expect(heads.ended).toBe('the missed blocks could not be fetched')
  expect(heads.texts).toHaveLength(1)
  expect(fixture.events.some((event) => event.startsWith('newHeads lacks the next '))).toBe(true)
  setDown(true)
})
