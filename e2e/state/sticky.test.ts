// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ChildProcesses } from '../processes/child-processes.ts'
import { waitUntil } from '../processes/eventually.ts'
import { startProgram } from '../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { type Answer, type Fleet, Replica, startFleet } from './fleet.fixture.ts'
import {
  type RedisProcess,
  startCluster,
  startRedis,
  startSentinels,
} from './redis-process.fixture.ts'

const claims = 'router_csm_sticky_claims_total'
const { signal } = new AbortController()
const names = ['a', 'b', 'c']

let workspace: Workspace
let children: ChildProcesses
let nodes: readonly SimNode[]
let redis: RedisProcess
let fleet: Fleet
let replicas: Fleet['all']

const options = () => ({ children, directory: workspace.directory, signal })
const storeOf = ({ address }: RedisProcess, prefix: string) => ({
  addresses: [address],
  'key-prefix': prefix,
})
let last = 0
const newSession = () => `session-${++last}`

beforeAll(async () => {
  workspace = await createWorkspace()
  children = new ChildProcesses(workspace.directory)
  const chain = createChainModel()
  nodes = await Promise.all(names.map((name) => startSimNode({ chain, name })))
  redis = await startRedis(options())
  fleet = await startFleet(workspace, nodes, storeOf(redis, 'five'), 5)
  replicas = fleet.all
})

afterEach(async () => {
  for (const node of nodes) {
    node.faults.clear()
    node.view.lagBlocks = 0
    await node.start()
  }
  for (const each of replicas)
    await waitUntil('all nodes serve', 60_000, signal, async () => (await each.eligible()) === 3)
})

afterAll(async () => {
  await fleet[Symbol.asyncDispose]()
  await children[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

/** Number of answers by outcome. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { node, reason } of answers) {
    const key = reason ?? node ?? '?'
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

const sum = async (of: readonly Replica[], outcome: string) => {
  const each = await Promise.all(of.map((replica) => replica.metric(claims, outcome)))
  return each.reduce((total, one) => total + one, 0)
}

/** Sends requests of new sessions until a replica answers one. */
async function establish(one: Replica, session: string): Promise<string> {
  let node: string | null = null
  await expect.poll(async () => ({ node } = await one.ask(session)).node).toMatch(/^[abc]$/)
  return node ?? ''
}

/** Expects nodes to answer all plain requests. */
async function expectUnharmed(replica: Replica): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => replica.ask(null)))
  expect(answers.filter(({ status, reason }) => status !== 200 || reason !== null)).toEqual([])
}

describe('five replicas', () => {
  test('of 1,000 concurrent first requests the first writer wins, without further lookups', async () => {
    const session = newSession()
    await Promise.all(replicas.map((each) => establish(each, newSession())))
    const before = await sum(replicas, 'claimed')
    const pending = Array.from({ length: 1_000 }, (_, at) => replicas[at % 5]!.ask(session))
    const counts = tally(await Promise.all(pending))
    const [node = ''] = Object.keys(counts)
    expect(counts).toEqual({ [node]: 1_000 })
    expect(await sum(replicas, 'claimed')).toBe(before + 1)
    const commands = await redis.cli('info', 'commandstats')
    const again = Array.from({ length: 200 }, (_, at) => replicas[at % 5]!.ask(session))
    expect(tally(await Promise.all(again))).toEqual({ [node]: 200 })
    // Only sessions use scripts. Heads are shared by plain commands.
    const count = (text: string) => /cmdstat_eval:calls=\d+/.exec(text)?.[0]
    expect(count(commands)).toBeDefined()
    expect(count(await redis.cli('info', 'commandstats'))).toBe(count(commands))
  })

  test('a choice expires after two epochs of the store clock, and its key hides the id', async () => {
    const session = 'my-private-session-id'
    await establish(replicas[0], session)
    const keys = (await redis.cli('keys', '*')).split('\n')
    expect(keys.join()).not.toContain('session')
    const ofSessions = keys.filter((key) => /sticky:(?!generation|closed)/.test(key))
    expect(ofSessions.length).toBeGreaterThan(0)
    const left = await Promise.all(
      ofSessions.map(async (key) => Number(await redis.cli('pttl', key))),
    )
    const lifetimeMs = 2 * 24 * 3_600_000
    for (const each of left) expect(each).toBeGreaterThan(lifetimeMs - 100_000)
    for (const each of left) expect(each).toBeLessThanOrEqual(lifetimeMs)
    for (const { program } of replicas) expect(program.stdout).not.toContain(session)
  })

  test('metrics count all seven outcomes and the sessions in memory', async () => {
    const [one, other] = replicas
    await expect
      .poll(async () => {
        // Both replicas get requests at the same time, until one loses the race.
        const sessions = Array.from({ length: 20 }, newSession)
        await Promise.all(sessions.flatMap((each) => replicas.map((replica) => replica.ask(each))))
        return sum(replicas, 'lost_race')
      })
      .toBeGreaterThan(0)
    await one.ask(newSession(), { 'rpc-extension': 'nothing-has-it' })
    const session = newSession()
    const node = await establish(one, session)
    await other.ask(session)
    const kept = await other.metric('router_csm_sticky_sessions')
    await nodes.find(({ name }) => name === node)?.stop()
    expect((await one.ask(session)).reason).toBe('session-node')
    await expect.poll(() => other.metric('router_csm_sticky_sessions')).toBe(kept - 1)
    redis.pause()
    expect((await one.ask(newSession())).reason).toBe('session-store')
    redis.resume()
    for (const outcome of 'local_hit adopted claimed lost_race error no_candidate invalidated'.split(
      ' ',
    ))
      expect(await sum(replicas, outcome), outcome).toBeGreaterThan(0)
  })

  test('an id has one node for plain calls, and one for each extension', async () => {
    const answers = await Promise.all(
      replicas.map((each) => each.ask('s', { 'rpc-extension': 'nothing-has-it' })),
    )
    expect(tally(answers)).toEqual({ 'addon-not-declared': 5 })
    expect((await replicas[1].ask('s')).node).toMatch(/^[abc]$/)
  })
})

const troubles: Readonly<Record<string, (node: SimNode) => unknown>> = {
  'is down': (node) => node.stop(),
  'is in cooldown': (node) => node.faults.add({ kind: 'rate-limit', retryAfter: 1 }),
  lags: (node) => {
    node.view.lagBlocks = 6
  },
  'fails each call': (node) =>
    node.faults.add(
      { kind: 'status', status: 500, body: 'html' },
      { methods: ['eth_blockNumber'] },
    ),
}

describe('when the node of a session', () => {
  test.each(Object.entries(troubles))(
    '%s: no other node serves it; then all replicas agree on another',
    async (_, befall) => {
      const session = newSession()
      const node = await establish(replicas[0], session)
      for (const each of replicas) expect((await each.ask(session)).node).toBe(node)
      await befall(nodes.find(({ name }) => name === node) as SimNode)
      const answers: Answer[] = []
      for (let at = 0; answers.at(-1)?.reason !== 'session-node' && at < 2_000; at++) {
        const answer = await replicas[at % 5]!.ask(session)
        answers.push(answer)
        // An error page of the node also drops the choice.
        if (answer.status === 500 || answer.status === 429) break
      }
      expect(new Set(answers.map((each) => each.node ?? node))).toEqual(new Set([node]))
      const agreed = async () => {
        const each = tally(await Promise.all(replicas.map((replica) => replica.ask(session))))
        return Object.keys(each).join()
      }
      await expect.poll(agreed).toMatch(new RegExp(`^(?!${node})[abc]$`))
      const next = await Promise.all(
        Array.from({ length: 25 }, (__, at) => replicas[at % 5]!.ask(session)),
      )
      const [chosen = ''] = Object.keys(tally(next))
      expect(tally(next)).toEqual({ [chosen]: 25 })
      expect(chosen).toMatch(/^[abc]$/)
      expect(chosen).not.toBe(node)
      await expectUnharmed(replicas[2]!)
    },
  )

  test("is removed from a replica's config, it fails once, and all agree on another node", async () => {
    const session = newSession()
    const node = await establish(replicas[0], session)
    const left = nodes.filter(({ name }) => name !== node)
    await using changed = await startFleet(workspace, left, storeOf(redis, 'five'))
    expect(await changed.all[0].ask(session)).toMatchObject({ status: 503, reason: 'session-node' })
    const next = await establish(changed.all[0], session)
    expect(next).not.toBe(node)
    for (const each of [...replicas, ...changed.all])
      expect((await each.ask(session)).node).toBe(next)
  })

  test('is not yet verified by a new replica, no session moves', async () => {
    const sessions = Array.from({ length: 12 }, newSession)
    const request = (replica: Replica) =>
      Promise.all(sessions.map(async (each) => (await replica.ask(each)).node))
    const before = await Promise.all(sessions.map((each) => establish(replicas[0], each)))
    expect(new Set(before)).toEqual(new Set(names))
    nodes[0]!.faults.add({ kind: 'slow', delayMs: 600 })
    const settings = { 'resp-cache': storeOf(redis, 'five'), 'shared-state': true }
    await using program = await startProgram(workspace, ethereumConfig(nodes, settings))
    const added = new Replica(program)
    const readiness = async () => (await fetch(`${program.adminUrl}/readyz`)).status
    await expect.poll(readiness, { interval: 10 }).toBe(200)
    const early = await Promise.all(sessions.map((each) => added.ask(each)))
    for (const [at, { node, reason }] of early.entries())
      expect(node ?? [reason, names[0]]).toEqual(node ? before[at] : ['session-node', before[at]])
    expect(await request(replicas[0])).toEqual(before)
    await expect.poll(() => request(added)).toEqual(before)
    expect(await added.metric(claims, 'invalidated')).toBe(0)
  })
})

describe('when the store', () => {
  /** Expects sessions to fail or stay, new sessions to fail, and plain requests to work. */
  const expectFailClosed = async (session: string, node: string) => {
    await expect
      .poll(async () => (await replicas[0].ask(newSession())).reason)
      .toBe('session-store')
    for (const each of replicas) {
      const { status, node: served, reason } = await each.ask(session)
      expect([node, null]).toContain(served)
      if (served === null) expect([status, reason]).toEqual([503, 'session-store'])
      await expectUnharmed(each)
    }
  }
  const expectHealed = async (session: string, node: string) => {
    for (const each of replicas)
      await expect.poll(async () => (await each.ask(session)).node).toBe(node)
  }

  test.each<[string, () => unknown, () => unknown]>([
    ['hangs', () => redis.pause(), () => redis.resume()],
    ['is killed', () => redis.kill(), async () => (redis = await redis.restart())],
    [
      'is out of memory',
      () => redis.cli('config', 'set', 'maxmemory', '1'),
      () => redis.cli('config', 'set', 'maxmemory', '0'),
    ],
    [
      'has become a read-only replica',
      () => redis.cli('replicaof', '127.0.0.1', '1'),
      () => redis.cli('replicaof', 'no', 'one'),
    ],
    [
      'requires another password',
      async () => {
        await redis.cli('config', 'set', 'requirepass', 'another')
        await redis.cli('client', 'kill', 'type', 'normal', 'skipme', 'yes')
        await redis.cli('client', 'kill', 'type', 'pubsub')
      },
      () => redis.cli('config', 'set', 'requirepass', ''),
    ],
  ])('%s: no other node serves, and plain requests are not harmed', async (_, befall, heal) => {
    const session = newSession()
    const node = await establish(replicas[0], session)
    await expectHealed(session, node)
    await befall()
    await expectFailClosed(session, node)
    await heal()
    await expectHealed(session, node)
  })
})

test('a transaction gets the same answer through another replica', async () => {
  const raw = await new Wallet(`0x${'33'.repeat(32)}`).signTransaction({
    ...{ to: `0x${'44'.repeat(20)}`, value: 7n, chainId: 1n, nonce: 0, gasLimit: 21_000n },
    ...{ gasPrice: 100_000_000_000n, type: 0 },
  })
  const send = async ({ program }: Replica) => {
    const response = await fetch(program.urls[0] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${raw}"]}`,
    })
    return response.json() as Promise<{ readonly result?: string }>
  }
  const [first, second] = replicas
  const sent = await send(first)
  expect(sent.result).toMatch(/^0x[0-9a-f]{64}$/)
  expect(await send(second)).toEqual(sent)
})

test('the routers print only log lines', async () => {
  for (const { program } of replicas) {
    await program.logged('the store of sticky sessions answers')
    expect(program.stderr).toBe('')
    for (const line of program.stdout.trim().split('\n')) expect(line).toMatch(/^\{"level"/)
  }
})

test.each<[string, Record<string, unknown>, number]>([
  ['without shared-state serves sessions alone, and starts without a warning', {}, 0],
  [
    'with shared-state and no store warns that it serves sessions alone',
    { 'shared-state': true },
    1,
  ],
])('a router %s', async (_, settings, warnings) => {
  await using program = await startProgram(workspace, ethereumConfig(nodes, settings))
  expect(program.stdout.match(/"level":"warn"/g) ?? []).toHaveLength(warnings)
  expect(program.stdout.match(/shared-state needs resp-cache/g) ?? []).toHaveLength(warnings)
  const alone = new Replica(program)
  const node = await establish(alone, 's')
  for (let each = 0; each < 5; each++) expect((await alone.ask('s')).node).toBe(node)
  expect(await alone.metric(claims, 'local_hit')).toBe(5)
})

test('a forbidden database is no store, and database 0 remains empty', async () => {
  const own = await startRedis({
    ...options(),
    config: ['user default on nopass ~* &* +@all -select'],
  })
  const settings = { cache: { shared: true } }
  await using two = await startFleet(
    workspace,
    nodes,
    { ...storeOf(own, 'db'), db: 3 },
    2,
    settings,
  )
  const [one, other] = two.all
  for (let each = 0; each < 20; each++)
    expect(await one.ask(newSession())).toMatchObject({ status: 503, reason: 'session-store' })
  await expectUnharmed(one)
  await one.ask(null, {}, 'web3_sha3', ['0x1'])
  expect(await one.metric('router_cache_store_failures_total')).toBeGreaterThan(0)
  expect(await own.cli('info', 'keyspace')).toBe('# Keyspace')
  expect(one.program.stdout).toMatch(/may run SELECT \(NOPERM\).*rpc-stickiness may fail/)
  await own.cli('acl', 'setuser', 'default', '+select')
  const session = newSession()
  const node = await establish(one, session)
  await expect.poll(async () => (await other.ask(session)).node).toBe(node)
  expect(await own.cli('info', 'keyspace')).toMatch(/^# Keyspace\s+db3:\S+$/)
})

test('a separate Redis for answers evicts answers, but no session', async () => {
  const [ofSessions, ofAnswers] = await Promise.all([
    startRedis({ ...options(), config: ['maxmemory-policy noeviction'] }),
    startRedis({ ...options(), config: ['maxmemory 3mb', 'maxmemory-policy allkeys-lru'] }),
  ])
  const cache = { 'resp-cache': storeOf(ofAnswers, 'answers:') }
  const store = storeOf(ofSessions, 'sessions:')
  await using two = await startFleet(workspace, nodes, store, 2, { cache, 'cache-bytes': '1MiB' })
  const [one, other] = two.all
  const session = newSession()
  const node = await establish(one, session)
  const fill = "for i = 1, 20000 do redis.call('set', i, string.rep('x', 200)) end"
  await ofAnswers.cli('eval', fill, '0')
  await waitUntil('answers are evicted', 150_000, signal, async () => {
    await one.ask(null, {}, 'web3_sha3', [`0x${++last}`])
    return !(await ofAnswers.cli('info', 'stats')).includes('evicted_keys:0')
  })
  const keys = (await ofSessions.cli('keys', '*')).split('\n').toSorted()
  expect(keys).toEqual([
    expect.stringMatching(/^sessions:sticky:[\w-]{43}$/),
    'sessions:sticky:generation',
  ])
  expect(await ofAnswers.cli('keys', 'sessions:*')).toBe('')
  await ofAnswers.kill()
  expect(await other.ask(session)).toMatchObject({ status: 200, node })
  await expectUnharmed(other)
})

test('Sentinel: during a failover a session stays on its node or fails', async () => {
  const sentinels = await startSentinels(options())
  const { master, masterName } = sentinels
  const store = {
    topology: 'sentinel',
    'master-name': masterName,
    addresses: sentinels.sentinels.map(({ address }) => address),
    'key-prefix': 'sentinel',
  }
  await using two = await startFleet(workspace, nodes, store)
  const [one, other] = two.all
  const session = newSession()
  const node = await establish(one, session)
  await master.kill()
  const answers: Answer[] = []
  const isBack = async () => {
    answers.push(await one.ask(session), await other.ask(session))
    const fresh = await one.ask(newSession())
    expect((await other.ask(null)).status).toBe(200)
    return fresh.node
  }
  await expect.poll(isBack, { interval: 50 }).toMatch(/^[abc]$/)
  await expect.poll(async () => (await other.ask(session)).node).toBe(node)
  const { [node]: served = 0, 'session-store': failed = 0, ...strange } = tally(answers)
  expect(strange).toEqual({})
  expect(served + failed).toBe(answers.length)
})

test('Cluster: a session retains its node after its slot moves', async () => {
  const cluster = await startCluster(options())
  const store = {
    topology: 'cluster',
    addresses: cluster.nodes.map(({ address }) => address),
    'key-prefix': 'cluster',
  }
  await using two = await startFleet(workspace, nodes, store)
  const [one, other] = two.all
  const session = newSession()
  const node = await establish(one, session)
  const [first] = cluster.nodes as [RedisProcess]
  const keys = await Promise.all(cluster.nodes.map((each) => each.cli('keys', '*')))
  const [key = ''] = keys.find((each) => each !== '')?.split('\n') ?? []
  const slot = Number(await first.cli('cluster', 'keyslot', key))
  const owner = await cluster.ownerOf(slot)
  const target = cluster.nodes.find((each) => each !== owner) as RedisProcess
  await cluster.moveSlot(slot, target)
  // Another cluster node may have missed the last writes.
  const moved = await Promise.all(Array.from({ length: 20 }, () => other.ask(session)))
  expect(
    Object.keys(tally(moved)).filter((each) => ![node, 'session-store'].includes(each)),
  ).toEqual([])
  await expect.poll(async () => (await other.ask(session)).node).toBe(node)
  await target.kill()
  const seen = await Promise.all(Array.from({ length: 20 }, () => other.ask(session)))
  const { [node]: served = 0, 'session-store': failed = 0, ...strange } = tally(seen)
  expect([strange, served + failed]).toEqual([{}, 20])
  await expectUnharmed(other)
})
