// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { Cluster, Redis } from 'ioredis'
import type { Cancel } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { StoreConfig } from '../config/types.ts'
import { StoreAvailability, StoreError } from './store-error.ts'
import type { StoreOptions, Subscriber } from './shared-store.ts'

/** The commands of Redis. Keys get the prefix of the config. */
export type Commands = Redis | Cluster

export interface RedisOptions extends StoreOptions {
  /** What Node's TLS wants; null: no TLS. */
  readonly tls: object | null
}

const firstBackoffMs = 50
const maxBackoffMs = 1_000
const connectTimeoutMs = 2_000
/** A listening connection that receives nothing, not even a pong, is replaced within 1.5 s. */
const heartbeatMs = 500
const silentMs = 1_000
const untilConnected = 'while connecting, and is not asked before it does'
/** How often the password file is looked at. */
const watchMs = 2_000

/**
 * A Redis, standalone, behind sentinels or as a cluster. A command fails at once while there is no connection, and after
 * its time when there is no answer; it never waits for a connection. The connection is made again for ever.
 */
export class RedisStore {
  readonly #config: StoreConfig
  readonly #parts: RedisOptions
  readonly #subscribers: Subscriber[] = []
  /** Its name has the prefix, which only keys get by themselves. */
  readonly channel: string
  /** Prefix of session keys: in a Cluster, all keys of one script must share a slot. */
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

  constructor(config: StoreConfig, parts: RedisOptions) {
    this.#config = config
    this.channel = `${config.keyPrefix}changed`
    this.slot = config.topology === 'cluster' ? '{sticky}' : ''
    this.#parts = parts
    this.random = parts.random
    this.#availability = new StoreAvailability(parts)
    this.#password = this.#readPassword()
    this.#client = this.#open()
    const { passwordFile } = config
    if (passwordFile !== null)
      watchFile(passwordFile, { interval: watchMs, persistent: false }, this.#reread)
  }

  /** Runs a command. @param name for the metrics. @throws StoreError */
  async run<T>(
    name: string,
    command: (redis: Commands) => Promise<T>,
    timeoutMs = this.#parts.commandTimeoutMs,
  ): Promise<T> {
    const ended = this.#availability.began(name)
    let cancel: Cancel = () => {}
    try {
      if (this.#client.status !== 'ready') throw this.#broken ?? new StoreError('unreachable')
      const late = new Promise<never>((_, reject) => {
        const giveUp = () => reject(new StoreError('timeout'))
        const { clock } = this.#parts
        cancel = clock.after(timeoutMs / 2, () => {
          cancel = clock.after(timeoutMs / 2, giveUp)
        })
      })
      const result = await Promise.race([command(this.#client), late])
      ended(null)
      return result
    } catch (cause) {
      const error = StoreError.from(cause)
      ended(error)
      throw error
    } finally {
      cancel()
    }
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

  /** @returns null where there is none, or where the file cannot be read now: the store then refuses, and it is read again */
  #readPassword(): string | null {
    const { password, passwordFile } = this.#config
    if (passwordFile === null) return password?.reveal() ?? null
    try {
      return readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '')
    } catch {
      return this.#password ?? null
    }
  }

  #options() {
    const { commandTimeoutMs, tls } = this.#parts
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
      // Of the handshake; `run` has the time of commands.
      commandTimeout: waitMs,
      socketTimeout: waitMs,
      maxRetriesPerRequest: 1,
      // It needs the right to run INFO, and its refusal would be printed with the name of the user.
      enableReadyCheck: this.#config.topology === 'sentinel',
      reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    }
  }

  #redisOptions() {
    const { topology, addresses, masterName } = this.#config
    const password = this.#password
    const shared = {
      ...this.#options(),
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
    const { tls } = this.#parts
    return this.#watched(
      new Cluster([...addresses], {
        // No auto-pipelining: it fails commands beside one whose slot has moved.
        keyPrefix,
        redisOptions: this.#options(),
        enableOfflineQueue: false,
        clusterRetryStrategy: this.#backoffMs,
        // A slot that has moved, and one retry.
        maxRedirections: 3,
        slotsRefreshTimeout: connectTimeoutMs,
        // A certificate is for the name.
        ...(tls && { dnsLookup: (host, done) => done(null, host) }),
      }),
    )
  }

  #watched<T extends Commands>(client: T): T {
    let isElsewhere = false
    const failed = (error: Error) => {
      if (isElsewhere) return
      const { fault } = (this.#broken = StoreError.from(error))
      // Commands fail by it at once, which is no time to answer in.
      if (fault === 'timeout') this.#broken = new StoreError(fault, untilConnected)
      this.#availability.note(this.#broken)
      if (this.#broken.fault === 'unauthorized') this.#reread()
      // It would go on with database 0, and send there what it still has to send.
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

  /** With another password. What runs goes on with the old connection until there is a new one. */
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

  /** A connection for messages: a cluster brings them to each of its nodes. */
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
    // The other connection has the same.
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
    if (isUp) this.#cancelHeartbeat = this.#parts.clock.after(heartbeatMs, this.#beat)
    if (this.#isListening === isUp) return
    this.#isListening = isUp
    for (const { listening } of this.#subscribers) listening(isUp)
  }

  /** A connection on which nothing comes may be dead: this has its socket time out. */
  readonly #beat = (): void => {
    const listener = this.#listener
    const again = () => {
      if (listener === this.#listener)
        this.#cancelHeartbeat = this.#parts.clock.after(heartbeatMs, this.#beat)
    }
    listener?.ping().then(again, () => listener.disconnect(true))
  }

  readonly #backoffMs = (times: number): number => {
    // A connection that was ready counts as a success, though its database was the wrong one.
    const doublings = this.#broken?.fault === 'no-database' ? Infinity : times - 1
    const ms = Math.min(firstBackoffMs * 2 ** doublings, maxBackoffMs)
    return ms * (0.5 + this.#parts.random.next() / 2)
  }
}
