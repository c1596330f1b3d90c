// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Child, ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { waitUntil } from '../processes/eventually.ts'

const startTimeoutMs = 60_000

export interface RedisOptions {
  readonly children: ChildProcesses
  /** Directory of its files. */
  readonly directory: string
  readonly signal: AbortSignal
  readonly port?: number
  /** Further config lines, such as `maxmemory 3mb`. */
  readonly config?: readonly string[]
  /** Password of the default user. */
  readonly password?: string
  /** Paths of PEM files, with which it accepts only TLS. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
}

/** A redis-server on loopback. */
export interface RedisProcess {
  readonly port: number
  /** `127.0.0.1:port` */
  readonly address: string
  readonly child: Child
  /** Runs a command on the administrator's connection, and returns the reply as redis-cli does. */
  cli(command: string, ...args: readonly string[]): Promise<string>
  /** Suspends it: connections remain open without answers. */
  pause(): void
  resume(): void
  /** Kills it with SIGKILL, like the death of a machine. */
  kill(): Promise<void>
  /** Restarts it on its port. It loses its data, unless `keepsData` retains the saved data. */
  restart(how?: { readonly keepsData: boolean }): Promise<RedisProcess>
}

/** Starts a Redis, and waits until it answers. */
export async function startRedis(
  options: RedisOptions,
  saved: string | null = null,
): Promise<RedisProcess> {
  const { children, directory, password, tls, config = [] } = options
  const port = options.port ?? (await freePorts(1))[0] ?? 0
  const own = saved ?? (await mkdtemp(join(directory, `redis-${port}-`)))
  const file = join(own, 'redis.conf')
  const ofTls = tls && [
    'port 0',
    `tls-port ${port}`,
    `tls-ca-cert-file ${tls.ca}`,
    `tls-cert-file ${tls.cert}`,
    `tls-key-file ${tls.key}`,
  ]
  const lines = [
    'bind 127.0.0.1',
    'save ""',
    'repl-diskless-sync-delay 0',
    `dir ${own}`,
    ...(ofTls ?? [`port ${port}`]),
    ...(password === undefined ? [] : [`requirepass ${password}`, `masterauth ${password}`]),
    ...config,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  const mode = config.some((line) => line.startsWith('sentinel ')) ? ['--sentinel'] : []
  const name = `redis-${port}`
  const child = await children.start({ name, command: 'redis-server', args: [file, ...mode] })
  // A process of redis-cli for each command would cost more CPU than the command.
  const admin = new Redis({
    ...{ host: '127.0.0.1', port, password, enableReadyCheck: false },
    ...{ maxRetriesPerRequest: null, commandTimeout: 5_000 },
    ...(tls && {
      tls: {
        ca: await readFile(tls.ca),
        cert: await readFile(tls.cert),
        key: await readFile(tls.key),
        servername: 'localhost',
      },
    }),
    retryStrategy: () => (child.alive ? 20 : null),
  }).on('error', () => {})
  const cli = async (command: string, ...args: readonly string[]) =>
    textOf((await admin.call(command, ...args)) as Reply).trim()
  await waitUntil(`${name} answers`, startTimeoutMs, options.signal, async () => {
    if (!child.alive) throw new Error(child.tail())
    return (await cli('ping')) === 'PONG'
  })
  return {
    port,
    address: `127.0.0.1:${port}`,
    child,
    cli,
    pause() {
      child.kill('SIGSTOP')
    },
    resume() {
      child.kill('SIGCONT')
    },
    async kill() {
      child.kill('SIGKILL')
      await child.ended
    },
    restart: (how) => startRedis({ ...options, port }, how?.keepsData ? own : null),
  }
}

type Reply = string | number | null | readonly Reply[]

function textOf(reply: Reply): string {
  return typeof reply === 'object' ? (reply ?? []).map(textOf).join('\n') : String(reply)
}

/** A master with a replica, and sentinels that fail over within a second or two. */
export interface SentinelFleet {
  readonly masterName: string
  readonly master: RedisProcess
  readonly replica: RedisProcess
  readonly sentinels: readonly RedisProcess[]
  /** Resolves with the sentinels' master address. */
  masterAddress(): Promise<string>
}

export async function startSentinels(options: RedisOptions, count = 3): Promise<SentinelFleet> {
  const { password, signal } = options
  const masterName = 'claims'
  const master = await startRedis(options)
  const replica = await startRedis({
    ...options,
    config: [...(options.config ?? []), `replicaof 127.0.0.1 ${master.port}`],
  })
  await waitUntil('the replica is in step', startTimeoutMs, signal, async () =>
    (await replica.cli('info', 'replication')).includes('master_link_status:up'),
  )
  const config = [
    `sentinel monitor ${masterName} 127.0.0.1 ${master.port} ${Math.ceil(count / 2)}`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 2000`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${masterName} ${password}`]),
  ]
  const { children, directory } = options
  const sentinels = await Promise.all(
    Array.from({ length: count }, () => startRedis({ children, directory, signal, config })),
  )
  const ask = async (sentinel: RedisProcess) => {
    const reply = await sentinel.cli('sentinel', 'get-master-addr-by-name', masterName)
    return reply.split('\n').join(':')
  }
  await waitUntil('the sentinels know the replica', startTimeoutMs, signal, async () => {
    const known = await Promise.all(
      sentinels.map((each) => each.cli('sentinel', 'master', masterName)),
    )
    return known.every((text) => {
      const lines = text.split('\n')
      const value = (key: string) => lines[lines.indexOf(key) + 1]
      return value('num-slaves') === '1' && value('num-other-sentinels') === String(count - 1)
    })
  })
  const [first] = sentinels
  if (!first) throw new Error('there is no sentinel')
  return { masterName, master, replica, sentinels, masterAddress: () => ask(first) }
}

/** A cluster of masters with evenly distributed slots. */
export interface RedisCluster {
  readonly nodes: readonly RedisProcess[]
  /** Moves a slot, empty or not, to another node. */
  moveSlot(slot: number, to: RedisProcess): Promise<void>
  /** The node that owns a slot. */
  ownerOf(slot: number): Promise<RedisProcess>
}

const slots = 16_384

export async function startCluster(options: RedisOptions, masters = 3): Promise<RedisCluster> {
  const config = [
    ...(options.config ?? []),
    'cluster-enabled yes',
    'cluster-node-timeout 1000',
    'appendonly no',
  ]
  const ports = await freePorts(2 * masters)
  // The default port of the cluster bus, 10,000 higher, is in the ephemeral range.
  const buses = ports.splice(masters)
  const nodes = await Promise.all(
    ports.map((port, at) =>
      startRedis({ ...options, port, config: [...config, `cluster-port ${buses[at]}`] }),
    ),
  )
  const [first] = nodes
  if (!first) throw new Error('there is no node')
  const [firstPort, firstBus] = [String(first.port), String(buses[0])]
  const share = Math.ceil(slots / nodes.length)
  for (const [index, node] of nodes.entries()) {
    const last = Math.min((index + 1) * share, slots) - 1
    await node.cli('cluster', 'addslotsrange', String(index * share), String(last))
    if (node !== first) await node.cli('cluster', 'meet', '127.0.0.1', firstPort, firstBus)
  }
  await waitUntil('the cluster is whole', startTimeoutMs, options.signal, async () => {
    const infos = await Promise.all(nodes.map((node) => node.cli('cluster', 'info')))
    const known = `cluster_known_nodes:${nodes.length}`
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes(known))
  })
  const ids = await Promise.all(nodes.map((node) => node.cli('cluster', 'myid')))
  const ownerOf = async (slot: number) => {
    for (const [index, node] of nodes.entries()) {
      const own = (await node.cli('cluster', 'nodes'))
        .split('\n')
        .find((line) => line.includes('myself'))
      const ranges = (own ?? '').split(' ').slice(8)
      const has = ranges.some((range) => {
        const [from = NaN, to = from] = range.split('-').map(Number)
        return slot >= from && slot <= to
      })
      if (has) return nodes[index] as RedisProcess
    }
    throw new Error(`no node has the slot ${slot}`)
  }
  return {
    nodes,
    ownerOf,
    async moveSlot(slot, to) {
      const from = await ownerOf(slot)
      const [fromId = '', toId = ''] = [from, to].map((node) => ids[nodes.indexOf(node)])
      await to.cli('cluster', 'setslot', String(slot), 'importing', fromId)
      await from.cli('cluster', 'setslot', String(slot), 'migrating', toId)
      const keys = (await from.cli('cluster', 'getkeysinslot', String(slot), '1000')).split('\n')
      for (const key of keys.filter((each) => each !== ''))
        await from.cli('migrate', '127.0.0.1', String(to.port), key, '0', '1000')
      for (const node of nodes) await node.cli('cluster', 'setslot', String(slot), 'node', toId)
    },
  }
}
