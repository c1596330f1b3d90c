// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { shareByStore } from '../cache/shared-cache.ts'
import type { RouterConfig } from '../config/types.ts'
import type { CheckedConfig, ConfigSnapshot } from '../router/checked-config.ts'
import { preparedOrRefused, type Refusal } from '../router/reload.ts'
import type { PreparedConfig, Router, SharedCooldown } from '../router/router.ts'
import { loadStores } from '../router/stores.ts'
import { CacheClient } from '../store/grpc/cache-client.ts'
import type { StoreOptions } from '../store/store-options.ts'
import { OwnerTable } from './owner-table.ts'
import { PeerAnswers } from './peer-answers.ts'
import type { FromWorker, Peers, Start, ToWorker } from './messages.ts'
import { shareOf } from './share.ts'

/** How the process applies a config that the supervisor sends. */
interface Applying {
  readonly read: (snapshot: ConfigSnapshot) => Promise<CheckedConfig>
  readonly prepare: (next: CheckedConfig, config: RouterConfig) => Promise<PreparedConfig>
}

/** The link from a worker to its supervisor. */
export class WorkerLink {
  readonly number: number
  readonly start: Start
  /** Resolves with the signal that the supervisor got, or once the supervisor is gone. */
  readonly stopped: Promise<string>

  constructor(number: number, start: Start) {
    this.number = number
    this.start = start
    this.stopped = new Promise((resolve) => {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'stop') resolve(message.signal)
        if (message.kind === 'ping') this.#send({ kind: 'pong' })
      })
      process.on('disconnect', () => resolve('the supervisor is gone'))
    })
  }

  readonly peers: Peers = {
    send: (to, message) => this.#send({ kind: 'relay', to, message }),
    listen(received) {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'relayed') received(message.from, message.message)
      })
    },
  }

  /** This worker's part of a config. */
  shareOf(config: RouterConfig): RouterConfig {
    return shareOf(config, this.number, this.start.count)
  }

  /** The configured stores, and that of the supervisor where the config shares nothing. */
  async stores(config: RouterConfig): Promise<Awaited<ReturnType<typeof loadStores>>> {
    const { sessions, answers } = await loadStores(config)
    const own = {
      name: 'of the workers',
      open: (options: StoreOptions) =>
        new CacheClient(`unix:${this.start.directory}/store`, {
          ...options,
          // The store is on this machine, so it answers late only while the machine is busy.
          commandTimeoutMs: 1_000,
        }),
    }
    return {
      sessions: (config.sharedState && sessions) || own,
      answers: (config.cache.isShared && answers) || own,
    }
  }

  /** How this worker shares answers; null: by the store of the config. */
  shareAnswers(config: RouterConfig, clock: Clock): typeof shareByStore | null {
    const { store, isShared } = config.cache
    if (isShared && (store ?? config.store ?? config.cacheServer)) return null
    const owners = new OwnerTable(`${this.start.directory}/owners`, this.number, clock)
    const answers = new PeerAnswers(this.peers, clock, owners)
    return (keys) => {
      const byStore = shareByStore(keys)
      // What has no cache of its own to peek into, such as slices of logs, goes to the store.
      return {
        ...byStore,
        share: (scope, own, onReorg, peek) =>
          peek ? answers.share(scope, onReorg, peek) : byStore.share(scope, own, onReorg),
      }
    }
  }

  /** Reports that the router listens. From now on it takes configs and cooldowns. */
  started(router: Pick<Router, 'adopt'>, applying: Applying): void {
    this.peers.listen((_, message) => {
      if (message.kind === 'cooldown') router.adopt(message.cooldown)
    })
    let prepared: PreparedConfig | null = null
    process.on('message', (message: ToWorker) => {
      if (message.kind === 'discard') prepared?.discard()
      if (message.kind === 'commit') prepared?.commit()
      if (message.kind !== 'prepare') return
      // An unhandled rejection ends the process, as any defect does.
      void prepare(message.snapshot, applying).then((result) => {
        prepared = 'commit' in result ? result : null
        this.#send({ kind: 'prepared', refusal: 'commit' in result ? null : result })
      })
    })
    this.#send({ kind: 'started' })
  }

  /** Reports a cooldown to the other workers. */
  cooldownBegan(cooldown: SharedCooldown): void {
    this.peers.send(null, { kind: 'cooldown', cooldown })
  }

  /** The channel would hold the process. */
  disconnect(): void {
    if (process.connected) process.disconnect?.()
  }

  #send(message: FromWorker): void {
    if (process.connected) process.send?.(message)
  }
}

/** Receives how to begin from the supervisor. */
export async function connectWorker(number: number): Promise<WorkerLink> {
  const first = await new Promise<ToWorker>((resolve) => process.once('message', resolve))
  if (first.kind !== 'start') throw new Error(`a worker cannot begin with ${first.kind}`)
  return new WorkerLink(number, first)
}

async function prepare(
  snapshot: ConfigSnapshot,
  { read, prepare: apply }: Applying,
): Promise<PreparedConfig | Refusal> {
  const next = await read(snapshot)
  const { config } = next
  if (config) return preparedOrRefused(() => apply(next, config))
  return { why: `its ${next.problems[0]?.path}: ${next.problems[0]?.message}`, retries: true }
}
