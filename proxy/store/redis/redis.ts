// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { Cluster, Redis } from 'ioredis'
import type { Cancel } from '../../clock/clock.ts'
import type { Random } from '../../clock/random.ts'
import type { StoreConfig } from '../../config/types.ts'
import { StoreError } from '../store-error.ts'
import type { StoreOptions, Subscriber } from '../store-options.ts'
import { StoreAvailability } from '../store-availability.ts'

/** The commands of Redis. They add the configured prefix to keys. */
export type Commands = Redis | Cluster

export interface RedisOptions extends StoreOptions {
  /** Options for Node's TLS; null: no TLS. */
  readonly tls: object | null
}

const firstBackoffMs = 50
const maxBackoffMs = 1_000
const connectTimeoutMs = 2_000
/** A subscriber connection that receives nothing, not even a pong, is replaced within 1.5 s. */
const heartbeatMs = 500
const silentMs = 1_000
const untilConnected = 'while connecting, and is not asked before it does'
/** Poll interval for the password file. */
const watchMs = 2_000

/**
 * A Redis: standalone, behind sentinels, or a cluster. A command fails immediately if there is no
 * connection, and after its timeout if there is no answer. Reconnects indefinitely.
 */
export class RedisStore {
  readonly #config: StoreConfig
  readonly #options: RedisOptions
  readonly #subscribers: Subscriber[] = []
  /** Channel name, with the prefix that the client adds only to keys. */
  readonly channel: string
  /** Prefix of session keys. In a cluster, all keys of one script must share a slot. */
  readonly slot: string
  readonly random: Random
  #password: string | null
  #client: Commands
  #next: Commands | null = null
  #listener: Redis | null = null
  #isListening = false
  #cancelHeartbeat: Cancel = () => {}
  /** Why there is no connection. */
  #broken: StoreError | null = null
  readonly #availability: StoreAvailability
  readonly #reread = () => {
    const password = this.#readPassword()
    if (password === this.#password) return
    this.#password = password
    this.#reopen()
  }

  constructor(config: StoreConfig, options: RedisOptions) {
    this.#config = config
    this.channel = `${config.keyPrefix}changed`
    this.slot = config.topology === 'cluster' ? '{sticky}' : ''
    this.#options = options
    this.random = options.random
    this.#availability = new StoreAvailability(options)
    this.#password = this.#readPassword()
    this.#client = this.#open()
    const { passwordFile } = config
    if (passwordFile !== null)
      watchFile(passwordFile, { interval: watchMs, persistent: false }, this.#reread)
  }

  /** Runs a command. @param name for metrics. @throws StoreError */
  run<T>(
    name: string,
    command: (redis: Commands) => Promise<T>,
    timeoutMs = this.#options.commandTimeoutMs,
    isWrite = true,
  ): Promise<T> {
    return this.#availability.run(name, isWrite, timeoutMs, async () => {
      if (this.#client.status !== 'ready') throw this.#broken ?? new StoreError('unreachable')
      return command(this.#client)
    })
  }

  /** Runs a command that Redis executes even while it refuses writes. */
  read<T>(name: string, command: (redis: Commands) => Promise<T>): Promise<T> {
    return this.run(name, command, undefined, false)
  }

  /** All subscribers share one connection. */
  subscribe(subscriber: Subscriber): void {
    this.#subscribers.push(subscriber)
    this.#listener ??= this.#openListener()
    if (this.#isListening) subscriber.listening(true)
  }

  close(): void {
    if (this.#config.passwordFile !== null) unwatchFile(this.#config.passwordFile, this.#reread)
    this.#cancelHeartbeat()
    this.#availability.close()
    for (const each of [this.#client, this.#next, this.#listener]) each?.disconnect()
    this.#listener = null
  }

  /** @returns null if there is none, or if it is unreadable; a refusal triggers another read */
  #readPassword(): string | null {
    const { password, passwordFile } = this.#config
    if (passwordFile === null) return password?.reveal() ?? null
    try {
      return readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '')
    } catch {
      return this.#password ?? null
    }
  }

  #clientOptions() {
    const { commandTimeoutMs, tls } = this.#options
    const { username, db } = this.#config
    const waitMs = Math.max(2 * commandTimeoutMs, 1_000)
    return {
      ...(username !== null && { username: username.reveal() }),
      ...(this.#password !== null && { password: this.#password }),
      ...(tls !== null && { tls }),
      db,
      connectionName: 'rpc-router',
      disableClientInfo: true,
      connectTimeout: connectTimeoutMs,
      // Applies to the handshake; `run` limits the time of commands.
      commandTimeout: waitMs,
      socketTimeout: waitMs,
      maxRetriesPerRequest: 1,
      // The check needs permission for INFO; a refusal would log the user's name.
      enableReadyCheck: this.#config.topology === 'sentinel',
      reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    }
  }

  #redisOptions() {
    const { topology, addresses, masterName } = this.#config
    const password = this.#password
    const shared = {
      ...this.#clientOptions(),
      retryStrategy: this.#backoffMs,
      enableOfflineQueue: false,
    }
    if (topology !== 'sentinel') return { ...shared, ...addresses[0] }
    return {
      ...shared,
      sentinels: [...addresses],
      name: masterName,
      ...(password !== null && { sentinelPassword: password }),
      ...(shared.tls && { sentinelTLS: shared.tls, enableTLSForSentinelMode: true }),
      sentinelRetryStrategy: this.#backoffMs,
      sentinelCommandTimeout: connectTimeoutMs,
    }
  }

  #open(): Commands {
    const { topology, addresses, keyPrefix } = this.#config
    if (topology !== 'cluster')
      return this.#watched(
        new Redis({ ...this.#redisOptions(), keyPrefix, enableAutoPipelining: true }),
      )
    const { tls } = this.#options
    return this.#watched(
      new Cluster([...addresses], {
        // Auto-pipelining is off, because it fails commands next to one whose slot has moved.
        keyPrefix,
        redisOptions: this.#clientOptions(),
        enableOfflineQueue: false,
        clusterRetryStrategy: this.#backoffMs,
        // Allows a moved slot, and one retry.
        maxRedirections: 3,
        slotsRefreshTimeout: connectTimeoutMs,
        // Preserves the host name, because the certificate contains it.
        ...(tls && { dnsLookup: (host, done) => done(null, host) }),
      }),
    )
  }

  #watched<T extends Commands>(client: T): T {
    let isElsewhere = false
    const failed = (error: Error) => {
      if (isElsewhere) return
      const { fault } = (this.#broken = StoreError.from(error))
      // Commands fail immediately with this error, so it must not read like a late answer.
      if (fault === 'timeout') this.#broken = new StoreError(fault, untilConnected)
      this.#availability.note(this.#broken)
      if (this.#broken.fault === 'unauthorized') this.#reread()
      // The client would continue on database 0, and send its queued commands there.
      isElsewhere = this.#broken.fault === 'no-database'
      if (isElsewhere) client.disconnect(true)
    }
    client.on('error', failed)
    client.on('node error', failed)
    client.on('connect', () => {
      isElsewhere = false
    })
    client.on('ready', () => {
      if (isElsewhere) return
      this.#broken = null
      this.#availability.note(null)
    })
    return client
  }

  /** Reconnects with a new password. Running commands finish on the old connection. */
  #reopen(): void {
    this.#next?.disconnect()
    const next = this.#open()
    this.#next = next
    next.once('ready', () => {
      const old = this.#client
      this.#client = next
      this.#next = null
      old.quit().catch(() => old.disconnect())
    })
    if (!this.#listener) return
    this.#listener.disconnect()
    this.#listener = this.#openListener()
  }

  /** A connection for messages, which a cluster delivers through each of its nodes. */
  #openListener(): Redis {
    const { topology, addresses } = this.#config
    let at = 0
    const retryStrategy = (times: number) => {
      if (topology !== 'sentinel')
        Object.assign(listener.options, addresses[++at % addresses.length])
      return this.#backoffMs(times)
    }
    const listener = new Redis({
      ...this.#redisOptions(),
      ...{ retryStrategy, autoResubscribe: false, socketTimeout: silentMs },
    })
    // The command connection reports the same error.
    listener.on('error', () => {})
    listener.on('ready', () => {
      const subscribed = () => {
        if (listener === this.#listener) this.#setListening(true)
      }
      listener.subscribe(this.channel).then(subscribed, () => listener.disconnect(true))
    })
    listener.on('close', () => {
      if (listener === this.#listener) this.#setListening(false)
    })
    listener.on('message', (_channel, text: string) => {
      for (const { message } of this.#subscribers) message(text)
    })
    this.#setListening(false)
    return listener
  }

  #setListening(isUp: boolean): void {
    this.#cancelHeartbeat()
    if (isUp) this.#cancelHeartbeat = this.#options.clock.after(heartbeatMs, this.#beat)
    if (this.#isListening === isUp) return
    this.#isListening = isUp
    for (const { listening } of this.#subscribers) listening(isUp)
  }

  /** A silent connection may be dead. A ping makes its socket time out in that case. */
  readonly #beat = (): void => {
    const listener = this.#listener
    const again = () => {
      if (listener === this.#listener)
        this.#cancelHeartbeat = this.#options.clock.after(heartbeatMs, this.#beat)
    }
    // A Redis that cannot save refuses pings too, which is an answer.
    const failed = ({ name }: Error) =>
      name === 'ReplyError' ? again() : listener?.disconnect(true)
    listener?.ping().then(again, failed)
  }

  readonly #backoffMs = (times: number): number => {
    // A connection to the wrong database became ready, which must not count as a success.
    const doublings = this.#broken?.fault === 'no-database' ? Infinity : times - 1
    const ms = Math.min(firstBackoffMs * 2 ** doublings, maxBackoffMs)
    return ms * (0.5 + this.#options.random.next() / 2)
  }
}
