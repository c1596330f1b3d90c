// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { eventually, waitUntil } from '../processes/eventually.ts'
import { createWorkspace, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { type Answer, type Fleet, type Replica, startFleet } from './fleet.fixture.ts'
import {
  type RedisProcess,
  startRedis,
  startSentinels,
  type SentinelFleet,
} from './redis-process.fixture.ts'

/* Guarantees for clients of several replicas with shared sessions and a shared cache. */

const { signal } = new AbortController()
const chain = createChainModel()
const random = seededRandom(1)
const shared = { 'cache-bytes': '16MiB', cache: { shared: true } }

let workspace: Workspace
let children: ChildProcesses
let nodes: readonly SimNode[]
let redis: RedisProcess
let five: Fleet

beforeAll(async () => {
  workspace = await createWorkspace()
  children = new ChildProcesses(workspace.directory)
  nodes = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
  redis = await startRedis({ children, directory: workspace.directory, signal })
  const store = { addresses: [redis.address], 'key-prefix': 'fleet' }
  five = await startFleet(workspace, nodes, store, 5, shared)
})

beforeEach(() => ready(five.all))

afterEach(async () => {
  if (redis.child.alive) redis.resume()
  else redis = await redis.restart()
})

afterAll(async () => {
  await five[Symbol.asyncDispose]()
  await children[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

let last = 0
const unknown = () => `0x${(last += 1).toString(16).padStart(40, '0')}`

/** Waits until all replicas are connected to the store. */
async function ready(replicas: readonly Replica[]): Promise<void> {
  await waitUntil('all serve sessions', 60_000, signal, async () => {
    const session = unknown()
    const answers = await Promise.all(replicas.map((each) => each.ask(session)))
    return answers.every(({ status }) => status === 200)
  })
}

const balance = (replica: Replica, account: string, block = '0x100') =>
  replica.ask(null, {}, 'eth_getBalance', [account, block])

test('1,000 identical reads through two replicas cost one call at a node', async () => {
  const [one, two] = five.all
  const failures = async () => {
    const each = [one, two].map((replica) => replica.metric('router_cache_store_failures_total'))
    return (await Promise.all(each)).reduce((sum, count) => sum + count, 0)
  }
  const requestCount = () =>
    nodes.reduce((sum, { calls }) => sum + calls.count('eth_getBalance'), 0)
  // All requests at once would delay the node, which is in this process.
  const lane = async (at: number, account: string) => {
    const own: Answer[] = []
    for (let each = 0; each < 20; each++) own.push(await balance(at % 2 ? one : two, account))
    return own
  }
  // A replica waits 250 ms for another, which a busy machine may exceed, before it calls a node.
  await eventually(async () => {
    const [before, failed, account] = [requestCount(), await failures(), unknown()]
    const lanes = Array.from({ length: 50 }, (_, at) => lane(at, account))
    const answers = (await Promise.all(lanes)).flat()
    expect(new Set(answers.map(({ status, result }) => `${status} ${String(result)}`)).size).toBe(1)
    // On a busy machine the store may miss its timeout of 50 ms, which counts as a failure.
    expect(requestCount() - before).toBeLessThanOrEqual(1 + (await failures()) - failed)
  })
})

test('in 20 rounds of differing heads, sessions and rpc-min-block clients never go back', async () => {
  /** Sends requests to random replicas with a session, or with rpc-min-block of the last answer. */
  const client = (session: string | null) => {
    let [seen, least, backwards] = [0, 0, 0]
    return async () => {
      const replica = five.all[Math.floor(random.next() * 5)]!
      const floor = session === null ? { 'rpc-min-block': String(least) } : {}
      const { status, result, latest } = await replica.ask(session, floor)
      expect(status).toBe(200)
      if (Number(result) < seen) backwards += 1
      seen = Math.max(seen, Number(result))
      least = Math.max(least, latest)
      return backwards
    }
  }
  const clients = ['x', 'y', 'z', null, null, null].map(client)
  for (let round = 0; round < 20; round++) {
    chain.mine()
    // A node's own head never goes back.
    for (const { view } of nodes)
      view.lagBlocks = Math.min(view.lagBlocks + 1, Math.floor(random.next() * 4))
    for (let each = 0; each < 5; each++)
      expect(await Promise.all(clients.map((ask) => ask()))).toEqual([0, 0, 0, 0, 0, 0])
  }
  for (const { view } of nodes) view.lagBlocks = 0
})

/** Sends uncached reads in sequence on each of eight connections. */
async function expectNoFailure(replicas: readonly Replica[], harm: () => unknown): Promise<void> {
  const strange: Answer[] = []
  const lane = async (at: number) => {
    for (let each = 0; each < 150; each++) {
      const answer = await balance(replicas[(at + each) % replicas.length]!, unknown())
      if (answer.status !== 200 || answer.reason !== null) strange.push(answer)
      if (at === 0 && each === 15) await harm()
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, at) => lane(at)))
  expect(strange).toEqual([])
}

test.each<[string, (sentinels: SentinelFleet | null) => unknown, boolean]>([
  ['Redis hangs', () => redis.pause(), false],
  ['Redis is killed', () => redis.kill(), false],
  ['the master dies, and Sentinel names another', (sentinels) => sentinels?.master.kill(), true],
])('while %s, no plain request fails', async (_, harm, isSentinel) => {
  const options = { children, directory: workspace.directory, signal }
  const sentinels = isSentinel ? await startSentinels(options) : null
  const addresses = (sentinels?.sentinels ?? [redis]).map(({ address }) => address)
  const store = {
    ...{ addresses, 'key-prefix': `load-${isSentinel}` },
    ...(sentinels && { topology: 'sentinel', 'master-name': sentinels.masterName }),
  }
  await using fleet = await startFleet(workspace, nodes, store, 2, shared)
  await ready(fleet.all)
  await expectNoFailure(fleet.all, () => harm(sentinels))
})
