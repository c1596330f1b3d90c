// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../../proxy/clock/clock.ts'
import { Secret } from '../../proxy/config/secret.ts'
import type { StoreConfig } from '../../proxy/config/types.ts'
import type { StoreError } from '../../proxy/store/store-error.ts'
import { RedisStore } from '../../proxy/store/redis/redis.ts'
import { RedisKeys } from '../../proxy/store/shared-store.ts'
import { expectSessionContract } from '../../proxy/store/testing/session-contract.ts'
import { createAuthority } from '../../proxy/upstream/testing/certificates.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import {
  type RedisProcess,
  startCluster,
  startRedis,
  startSentinels,
} from './redis-process.fixture.ts'

let directory: string
let children: ChildProcesses
const { signal } = new AbortController()
const options = () => ({ children, directory, signal })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rpc-router-redis-test-'))
  children = new ChildProcesses(directory)
})

afterAll(async () => {
  await children[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

const plain = {
  topology: 'standalone',
  masterName: 'claims',
  username: null,
  password: null,
  passwordFile: null,
  db: 0,
  keyPrefix: 'p:',
  tls: null,
} as const

let clients = 0

/** A client and its reports. */
function open(
  nodes: readonly RedisProcess[],
  settings: Partial<StoreConfig> = {},
  tls: object | null = null,
  commandTimeoutMs = 5_000,
) {
  const changes: (StoreError | null)[] = []
  const requests = new Map<string, number>()
  const addresses = nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const store = new RedisStore(
    { ...plain, addresses, ...settings },
    {
      clock: systemClock,
      // Two clients must not generate the same generation.
      random: seededRandom((clients += 1)),
      commandTimeoutMs,
      tls,
      onChange: (error) => changes.push(error),
      onCommand: (command, outcome, ms) => requests.set(`${command} ${outcome}`, ms),
    },
  )
  onTestFinished(() => {
    store.close()
  })
  const set = (key: string, value: string) => store.run('test', (redis) => redis.set(key, value))
  const get = (key: string) => store.read('test', (redis) => redis.get(key))
  const publish = (text: string) => store.run('test', (redis) => redis.publish(store.channel, text))
  return {
    store,
    publish,
    changes,
    requests,
    set,
    get,
    isReady: () => expect.poll(() => get('x').catch(String)).toBe(null),
  }
}

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: StoreError) => error.fault,
  )

test('keys have the prefix, and are in the configured database', async () => {
  const redis = await startRedis(options())
  const client = open([redis], { db: 3 })
  await client.isReady()
  await client.set('a', '1')
  await redis.cli('select', '3')
  expect(await redis.cli('get', 'p:a')).toBe('1')
})

test('a killed Redis is a fault until it restarts', async () => {
  const redis = await startRedis(options())
  const client = open([redis])
  await client.isReady()
  await redis.kill()
  await expect.poll(() => faultOf(client.get('x'))).toBe('unreachable')
  expect(client.requests.has('test unreachable')).toBe(true)
  await redis.restart()
  await client.isReady()
  await expect
    .poll(async () => [await client.get('x'), client.changes.at(-1)])
    .toEqual([null, null])
  expect(client.changes.length).toBeLessThan(4)
})

test('a hung Redis costs one command timeout, and is used again once it resumes', async () => {
  const redis = await startRedis(options())
  const client = open([redis], {}, null, 50)
  await client.isReady()
  redis.pause()
  expect(await faultOf(client.get('x'))).toBe('timeout')
  expect(client.requests.get('test timeout')).toBeGreaterThan(45)
  await expect.poll(() => faultOf(client.get('x'))).toBe('timeout')
  await expect
    .poll(() => client.store.run('test', async () => 'sent').catch((error: Error) => error.message))
    .toBe(
      'the store failed: it did not answer in time (while connecting, and is not asked before it does)',
    )
  redis.resume()
  await client.isReady()
})

test('an answer that arrives while this process is busy is not a timeout', async () => {
  const redis = await startRedis(options())
  const client = open([redis], {}, null, 500)
  await client.isReady()
  for (let each = 0; each < 3; each++) {
    const got = faultOf(client.get('x'))
    const untilMs = performance.now() + 700
    // Redis answers the last of these commands after the client's first command.
    while (performance.now() < untilMs) execFileSync('redis-cli', ['-p', `${redis.port}`, 'ping'])
    expect(await got).toBe('none')
  }
})

test('a full Redis and a replica have distinct faults', async () => {
  const full = await startRedis({ ...options(), config: ['maxmemory 1'] })
  const client = open([full])
  await client.isReady()
  expect(await faultOf(client.set('a', '1'))).toBe('full')
  const master = await startRedis(options())
  const replica = await startRedis({ ...options(), config: [`replicaof 127.0.0.1 ${master.port}`] })
  const ofReplica = open([replica])
  await ofReplica.isReady()
  expect(await faultOf(ofReplica.set('a', '1'))).toBe('read-only')
})

test('a Redis that cannot save refuses writes: one failure, while reads and messages work', async () => {
  const redis = await startRedis({ ...options(), config: ['dbfilename blocked'] })
  const client = open([redis])
  await client.isReady()
  const received: unknown[] = []
  const message = (text: string) => received.push(text)
  client.store.subscribe({ message, listening: (isUp) => received.push(isUp) })
  const [, home = ''] = (await redis.cli('config', 'get', 'dir')).split('\n')
  await mkdir(join(home, 'blocked'))
  await redis.cli('config', 'set', 'save', '60 1')
  await redis.cli('bgsave')
  await expect
    .poll(() => client.set('a', '1').catch(String))
    .toMatch('save to its disk; reads work')
  const reported = client.changes.length
  const refusedPings = async () =>
    Number(/cmdstat_ping:.*rejected_calls=(\d+)/.exec(await redis.cli('info', 'commandstats'))?.[1])
  // By now, successful reads would have ended a passing failure.
  const hasWaited = async () => (await client.get('x')) === null && (await refusedPings()) > 2
  await expect.poll(hasWaited).toBe(true)
  expect(await faultOf(client.set('a', '1'))).toBe('cannot-save')
  expect(client.changes).toHaveLength(reported)
  await client.publish('still here')
  await expect.poll(() => received).toEqual([true, 'still here'])
})

test('a wrong password is a fault that hides the password, and the file is reloaded', async () => {
  const redis = await startRedis({ ...options(), password: 'right-and-secret' })
  const passwordFile = join(directory, 'password')
  await writeFile(passwordFile, 'wrong-and-secret\n')
  const client = open([redis], { passwordFile })
  await expect.poll(() => faultOf(client.get('x'))).toBe('unauthorized')
  expect(JSON.stringify(client.changes) + String(client.changes)).not.toContain('secret')
  await writeFile(passwordFile, 'right-and-secret\n')
  await client.isReady()
})

test('an ACL user needs only the keys and channels of the prefix, and few commands', async () => {
  const commands = '+get +set +pttl +del +eval +publish +subscribe +ping +select'
  const acl = `user router on >s3cret-word ~p:* &p:* -@all ${commands}`
  const redis = await startRedis({ ...options(), config: [acl] })
  const client = open([redis], {
    username: new Secret('router'),
    password: new Secret('s3cret-word'),
  })
  await client.isReady()
  const keys = new RedisKeys(client.store)
  const received: string[] = []
  keys.watch('k', {
    message: ({ key, value }) => received.push(`${key} ${String(value)}`),
    listening: (isUp) => received.push(String(isUp)),
  })
  await expect.poll(() => received).toEqual(['true'])
  expect((await keys.session('sticky:', '')).generation).not.toBe('')
  const [a, b] = [Buffer.from('node a'), Buffer.from('b')]
  expect(await keys.claim('k', a, 10_000)).toBeUndefined()
  expect(await keys.claim('k', b, 10_000)).toEqual(a)
  await keys.delete('other', a)
  await keys.delete('k', b)
  expect(await keys.get('k')).toMatchObject({ value: a })
  await keys.delete('k', a)
  expect((await keys.get('k')).value).toBeUndefined()
  await expect.poll(() => received).toEqual(['true', 'k b', 'k node a'])
})

test.each(['standalone', 'cluster', 'without INFO'] as const)(
  'session claims belong to a generation, which ends with the data: %s',
  async (kind) => {
    const config = kind === 'without INFO' ? ['user default on nopass ~* &* +@all -info'] : []
    const nodes =
      kind === 'cluster'
        ? (await startCluster(options())).nodes
        : [await startRedis({ ...options(), config })]
    const topology = kind === 'cluster' ? kind : 'standalone'
    const [one, other] = [open(nodes, { topology }), open(nodes, { topology, keyPrefix: 'q:' })]
    await Promise.all([one.isReady(), other.isReady()])
    await expectSessionContract(new RedisKeys(one.store, 1), new RedisKeys(other.store, 1e9))
  },
)

/** Ways in which a Redis loses data. */
const losses: Readonly<Record<string, (redis: RedisProcess) => Promise<unknown>>> = {
  'is flushed': (redis) => redis.cli('flushall'),
  'evicts only the generation': (redis) => redis.cli('del', 'p:sticky:generation'),
  'restarts without its data': async (redis) => {
    await redis.kill()
    return redis.restart()
  },
  'restarts from an older copy': async (redis) => {
    await redis.cli('save')
    await redis.kill()
    return redis.restart({ keepsData: true })
  },
}

test.each(Object.entries(losses))(
  'a Redis that %s starts another generation, and reports it',
  async (_, lose) => {
    const redis = await startRedis(options())
    const client = open([redis])
    await client.isReady()
    const keys = new RedisKeys(client.store, 1)
    const announced: unknown[] = []
    keys.watch('sticky:', {
      message: ({ key, value }) => announced.push([key, value]),
      listening: (isUp) => announced.push(isUp),
    })
    await expect.poll(() => announced).toEqual([true])
    const { generation } = await keys.session('sticky:', '')
    await expect.poll(() => announced).toEqual([true, ['sticky:generation', undefined]])
    await expect.poll(async () => (await keys.session('sticky:k', generation)).isOpen).toBe(true)
    await lose(redis)
    const claim = async () => keys.session('sticky:k', generation, Buffer.from('a'), 60_000)
    await expect.poll(() => claim().then(({ isOpen }) => isOpen, String)).toBe(false)
    expect((await claim()).generation).not.toBe(generation)
    await expect.poll(() => announced.length).toBeGreaterThan(2)
  },
)

test.each(['standalone', 'sentinel'] as const)(
  'a forbidden or missing database is a fault, without a fallback to another: %s',
  async (topology) => {
    const fleet = topology === 'sentinel' ? await startSentinels(options()) : null
    const redis = fleet?.master ?? (await startRedis(options()))
    const client = open(fleet?.sentinels ?? [redis], { topology, db: 3 })
    await client.isReady()
    await client.set('before', '1')
    await redis.cli('acl', 'setuser', 'default', '-select')
    // The next connection repeats unanswered commands.
    const pending = Array.from({ length: 50 }, (_, at) => faultOf(client.set(`asked-${at}`, '1')))
    await redis.cli('client', 'kill', 'type', 'normal', 'skipme', 'yes')
    await expect.poll(() => faultOf(client.set('after', '1'))).toBe('no-database')
    await Promise.all(pending)
    const connections = async () =>
      Number(/total_connections_received:(\d+)/.exec(await redis.cli('info', 'stats'))?.[1])
    const before = await connections()
    await expect.poll(connections).toBeGreaterThan(before + 2)
    // On a busy machine a command may time out first.
    await expect.poll(() => faultOf(client.set('after', '1'))).toBe('no-database')
    expect(client.changes.at(-1)?.message).toContain('the user may run SELECT')
    expect(await redis.cli('info', 'keyspace')).not.toContain('db0')
    expect(await redis.cli('info', 'clients')).toMatch(/connected_clients:[1-9]\b/)
    await redis.cli('acl', 'setuser', 'default', '+select')
    await client.isReady()
    const none = open(fleet?.sentinels ?? [redis], { topology, db: 16 })
    await expect.poll(() => faultOf(none.set('a', '1'))).toBe('no-database')
    expect(await redis.cli('info', 'keyspace')).toMatch(/^# Keyspace\s+db3:\S+$/)
  },
)

test('TLS with a client certificate', async () => {
  const authority = await createAuthority('redis')
  const [server, own] = await Promise.all([authority.issue('localhost'), authority.issue('router')])
  const paths = { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' }
  const texts = { ca: authority.cert, ...server }
  const tls = { ca: '', cert: '', key: '' }
  for (const part of ['ca', 'cert', 'key'] as const) {
    tls[part] = join(directory, paths[part])
    await writeFile(tls[part], texts[part])
  }
  const redis = await startRedis({ ...options(), tls })
  const trusted = { ca: authority.cert, ...own, servername: 'localhost' }
  const client = open([redis], {}, trusted)
  await client.isReady()
  const stranger = open([redis], {}, { ca: authority.cert, servername: 'localhost' })
  await expect.poll(() => faultOf(stranger.get('x'))).toBe('unreachable')
})

test('subscribers get messages, and a report after possibly missed messages', async () => {
  const redis = await startRedis(options())
  const [one, other] = [open([redis]), open([redis])]
  const received: (string | boolean)[] = []
  one.store.subscribe({
    message: (text) => received.push(text),
    listening: (isUp) => received.push(isUp),
  })
  await expect.poll(() => received).toEqual([true])
  await other.isReady()
  const late: (string | boolean)[] = []
  one.store.subscribe({
    message: (text) => late.push(text),
    listening: (isUp) => late.push(isUp),
  })
  await other.publish('first')
  await expect.poll(() => received).toEqual([true, 'first'])
  expect(late).toEqual([true, 'first'])
  await redis.kill()
  await expect.poll(() => received).toEqual([true, 'first', false])
  const again = await redis.restart()
  await expect.poll(() => received).toEqual([true, 'first', false, true])
  again.pause()
  await expect.poll(() => received).toEqual([true, 'first', false, true, false])
})

test('Sentinel: the new master is found after the old master dies', async () => {
  const fleet = await startSentinels(options())
  const client = open(fleet.sentinels, { topology: 'sentinel' })
  await client.isReady()
  const before = await fleet.masterAddress()
  await fleet.master.kill()
  await expect.poll(() => fleet.masterAddress()).not.toBe(before)
  await expect.poll(() => client.set('a', '1').catch(String)).toBe('OK')
  expect(await fleet.replica.cli('get', 'p:a')).toBe('1')
})

test('Cluster: moved slots are followed, dead nodes are faults, and messages arrive', async () => {
  const cluster = await startCluster(options())
  const client = open(cluster.nodes, { topology: 'cluster' })
  await client.isReady()
  const received: (string | boolean)[] = []
  client.store.subscribe({
    message: (text) => received.push(text),
    listening: (isUp) => received.push(isUp),
  })
  await expect.poll(() => received).toEqual([true])
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`)
  await Promise.all(keys.map((key) => client.set(key, key)))
  const [node] = cluster.nodes
  const slot = Number(await (node as RedisProcess).cli('cluster', 'keyslot', 'p:key-0'))
  const owner = await cluster.ownerOf(slot)
  const target = cluster.nodes.find((each) => each !== owner) as RedisProcess
  await cluster.moveSlot(slot, target)
  expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys)
  await client.publish('moved')
  await expect.poll(() => received.at(-1)).toBe('moved')
  await target.kill()
  await expect.poll(() => faultOf(client.get('key-0'))).not.toBe('none')
})
