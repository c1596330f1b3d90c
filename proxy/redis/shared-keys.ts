// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RedisStore } from './redis.ts'
import type { StoreError } from './store-error.ts'

export interface StoreParts {
  readonly clock: Clock
  readonly random: Random
  /** How long a command may take, with its retry: half of it twice, so that an answer that came while this process was busy is read. */
  readonly commandTimeoutMs: number
  /** The store fails, or answers again. */
  readonly onChange: (error: StoreError | null) => void
  /** A command ended. @param outcome `success`, or its fault */
  readonly asked?: (command: string, outcome: string, ms: number) => void
}

/** Listens for changes. */
export interface Subscriber<Message = string> {
  message(message: Message): void
  /** Messages may have been missed until now (`true`), or will be from now on (`false`). */
  listening(isUp: boolean): void
}

/** What is held under a key, or was. */
export interface Held {
  readonly key?: string
  /** Absent: nothing. */
  readonly value?: Uint8Array | undefined
  /** What is left of its time, where no counter was asked for. */
  readonly ttlMs?: number
  /** Of the counter that was asked for. */
  readonly count?: number
}

/** Keys that replicas share: in a Redis, or in the cache service. Each method throws StoreError when the store fails. */
export interface SharedKeys {
  get(key: string, counter?: string): Promise<Held>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
  /** Sets a value unless there is one. @returns the one that stands; undefined: it is this one */
  claim(key: string, value: Buffer, ttlMs: number): Promise<Uint8Array | undefined>
  /** @param value deletes this one, unless it is another one by now, and announces that */
  delete(key: string, value?: Buffer): Promise<unknown>
  /** Counts up, and announces that. */
  increment(key: string): Promise<unknown>
  /** Receives what is announced of the keys that begin like this. */
  watch(prefix: string, subscriber: Subscriber<Held>): void
  close(): void
}

/** Of `set`: nobody waits for it, and the value may be long. */
export const setTimeoutMs = 1_000

/** Compares, deletes and announces at once: a newer value of another replica is not deleted. */
const dropScript = `
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
return redis.call('publish', ARGV[2], ARGV[3])`

export class RedisKeys implements SharedKeys {
  readonly #redis: RedisStore

  constructor(redis: RedisStore) {
    this.#redis = redis
  }

  get(key: string, counter?: string): Promise<Held> {
    return this.#redis.run('get', async (redis) => {
      const other = counter === undefined ? redis.pttl(key) : redis.get(counter)
      const [value, number] = await Promise.all([redis.getBuffer(key), other])
      return {
        value: value ?? undefined,
        [counter === undefined ? 'ttlMs' : 'count']: Number(number),
      }
    })
  }

  set(key: string, value: Buffer, ttlMs: number) {
    return this.#redis.run('set', (redis) => redis.set(key, value, 'PX', ttlMs), setTimeoutMs)
  }

  async claim(key: string, value: Buffer, ttlMs: number) {
    // With GET the answer is the value that stood before.
    const set = this.#redis.run('claim', (redis) =>
      redis.setBuffer(key, value, 'PX', ttlMs, 'NX', 'GET'),
    )
    return (await set) ?? undefined
  }

  delete(key: string, value?: Buffer): Promise<unknown> {
    if (!value) return this.#redis.run('delete', (redis) => redis.del(key))
    const announced = [this.#redis.channel, `${key}\n${value.toString()}`]
    return this.#redis.run('delete', (redis) => redis.eval(dropScript, 1, key, value, ...announced))
  }

  async increment(key: string) {
    await this.#redis.run('increment', (redis) => redis.incr(key))
    // A replica that misses it finds another count.
    const { channel } = this.#redis
    await this.#redis.run('publish', (redis) => redis.publish(channel, key)).catch(() => null)
  }

  watch(prefix: string, { message, listening }: Subscriber<Held>): void {
    const changed = (text: string) => {
      if (!text.startsWith(prefix)) return
      const [key = '', value] = text.split('\n')
      message({ key, value: value === undefined ? value : Buffer.from(value) })
    }
    this.#redis.subscribe({ message: changed, listening })
  }

  close(): void {
    this.#redis.close()
  }
}
