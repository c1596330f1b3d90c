// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { createWorkspace, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { type Replica, startFleet } from './fleet.fixture.ts'
import { type RedisProcess, startCluster, startRedis } from './redis-process.fixture.ts'

/* Only one replica knows sessions when the store loses its data. `make test-slow` repeats most. */
const repeats = process.env['STORE_LOSSES'] === 'repeated'

const { signal } = new AbortController()

let workspace: Workspace
let children: ChildProcesses
let nodes: readonly SimNode[]

const options = () => ({ children, directory: workspace.directory, signal })

beforeAll(async () => {
  workspace = await createWorkspace()
  children = new ChildProcesses(workspace.directory)
  const chain = createChainModel()
  nodes = await Promise.all(['a', 'b', 'c'].map((name) => startSimNode({ chain, name })))
})

afterAll(async () => {
  await children[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

/** A store that can lose its data. */
interface Losing {
  readonly store: string | Readonly<Record<string, unknown>>
  lose(): Promise<unknown>
}

async function startLosing(how: (redis: RedisProcess) => Promise<RedisProcess>): Promise<Losing> {
  let redis = await startRedis(options())
  const store = { addresses: [redis.address], 'key-prefix': `${redis.port}:` }
  const lose = async () => {
    redis = await how(redis)
  }
  return { store, lose }
}

/** Ways to lose data, each with its number of repetitions, and a function that starts the store. */
const losses: Readonly<Record<string, readonly [number, () => Promise<Losing>]>> = {
  'a Redis restarts without its data': [
    4,
    () =>
      startLosing(async (redis) => {
        await redis.kill()
        return redis.restart()
      }),
  ],
  'the cache service restarts': [
    4,
    async () => {
      const [port = 0] = await freePorts(1)
      const address = `127.0.0.1:${port}`
      const args = ['bin/router.mjs', 'cache', address, '--metrics-listen-address', 'off']
      const start = () => children.start({ name: 'cache', command: process.execPath, args })
      let service = await start()
      const lose = async () => {
        service.kill('SIGKILL')
        await service.ended
        service = await start()
      }
      return { store: address, lose }
    },
  ],
  'a Redis restarts from a copy without the sessions': [
    2,
    async () => {
      const losing = await startLosing(async (redis) => {
        await redis.kill()
        const again = await redis.restart({ keepsData: true })
        // Saves the data for the next round.
        await again.cli('save')
        return again
      })
      await losing.lose()
      return losing
    },
  ],
  'a Redis is flushed': [
    2,
    () =>
      startLosing(async (redis) => {
        await redis.cli('flushall')
        return redis
      }),
  ],
  'a cluster node restarts without its data': [
    1,
    async () => {
      const cluster = await startCluster(options())
      const addresses = cluster.nodes.map(({ address }) => address)
      const lose = async () => {
        const [first] = cluster.nodes as [RedisProcess]
        const owner = await cluster.ownerOf(
          Number(await first.cli('cluster', 'keyslot', '{sticky}')),
        )
        await owner.kill()
        // The node has saved its cluster role, but no data.
        await owner.restart({ keepsData: true })
      }
      return { store: { topology: 'cluster', addresses, 'key-prefix': 'c' }, lose }
    },
  ],
}

let last = 0

/** Retries while the store is down or closed. @returns the node that serves the session */
async function untilServed(replica: Replica, session: string): Promise<string> {
  for (;;) {
    const { node, reason } = await replica.ask(session)
    if (node !== null) return node
    expect(reason).toBe('session-store')
    // All sessions wait at the same time.
    await sleep(400)
  }
}

test.concurrent.each(Object.entries(losses))(
  '%s: none of 60 sessions of one replica moves at the other',
  async (_, [most, start]) => {
    const { store, lose } = await start()
    await using fleet = await startFleet(workspace, nodes, store)
    const [one, other] = fleet.all
    for (let round = 1; round <= (repeats ? most : 1); round++) {
      const sessions = Array.from({ length: 60 }, () => `session-${++last}`)
      const at = (replica: Replica) =>
        Promise.all(sessions.map((session) => untilServed(replica, session)))
      const before = await at(one)
      expect(new Set(before).size).toBeGreaterThan(1)
      await lose()
      expect(await at(other)).toEqual(before)
      expect(await at(one)).toEqual(before)
      for (const each of fleet.all) {
        expect(await each.metric('router_csm_sticky_store_losses_total')).toBe(round)
        expect(await each.ask(null)).toMatchObject({ status: 200, reason: null })
      }
    }
    await one.program.logged('the store of sticky sessions restarted or lost its data')
  },
  120_000,
)
