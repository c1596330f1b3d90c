// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Commands, RedisStore } from './redis/redis.ts'
import type { Subscriber } from './store-options.ts'

/** The entry under a key, either current or deleted. */
export interface StoredClaim {
  readonly key?: string
  /** Absent if there is no entry. */
  readonly value?: Uint8Array | undefined
  /** Remaining time to live, unless a counter was requested. */
  readonly ttlMs?: number
  /** Value of the requested counter. */
  readonly count?: number
}

/** Prefix of sticky session keys. */
export const sessionPrefix = 'sticky:'
/** Key of the store's generation. It is absent after the store lost its data. */
export const generationKey = `${sessionPrefix}generation`
const closedKey = `${sessionPrefix}closed`
/** A store opens this long after the last restored choice. Replicas detect a loss sooner. */
export const graceMs = 5_000

/** Reply to a session operation. Without a `value`, the store has no other choice. */
export interface SessionReply extends StoredClaim {
  readonly generation: string
  /** Whether the store is open. Reads and claims also need the caller's generation to match. */
  readonly isOpen: boolean
}

/** Keys shared by replicas, in Redis or the cache service. Methods throw StoreError on failure. */
export interface SharedStore {
  get(key: string, counter?: string): Promise<StoredClaim>
  set(key: string, value: Buffer, ttlMs: number): Promise<unknown>
  /** Sets a value unless one exists. @returns the existing value; undefined: this one was set */
  claim(key: string, value: Buffer, ttlMs: number): Promise<Uint8Array | undefined>
  /**
   * Reads or claims a session's choice, and atomically checks the generation. A store that lost its
   * data announces a new generation, which stays closed until replicas have restored their choices.
   * @param generation that holds the caller's choices; empty: restores `value`, even into a closed
   * store, where it replaces an older choice and extends the closed time
   */
  session(key: string, generation: string, value?: Buffer, ttlMs?: number): Promise<SessionReply>
  /** Deletes a value and announces that. @param value deletes only this value */
  delete(key: string, value?: Buffer): Promise<unknown>
  /** Increments a counter and announces that. */
  increment(key: string): Promise<unknown>
  /** Receives announcements about keys with this prefix. */
  watch(prefix: string, subscriber: Subscriber<StoredClaim>): void
  close(): void
}

/** Timeout of `set`, for which no caller waits and whose value may be long. */
export const setTimeoutMs = 1_000

/** Compares, deletes and announces atomically: a newer value of another replica survives. */
const dropScript = `
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
return redis.call('publish', ARGV[2], ARGV[3])`

/**
 * One step of a session, as `SharedStore.session` defines it. A generation starts with the run id
 * of its Redis: after a restart or failover the last writes may be lost. Users without permission
 * for INFO skip that check, and so do restoring writes, since INFO takes 30 µs.
 */
const sessionScript = `
local known, value, ttl, graceMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local generation = redis.call('get', KEYS[1])
local restores = known == '' and value ~= ''
if not generation or not restores then
  local info = redis.pcall('info', 'server')
  local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
  if not generation or string.sub(generation, 1, #run) ~= run then
    generation = run .. ARGV[5]
    redis.call('set', KEYS[1], generation)
    redis.call('set', KEYS[2], '', 'PX', graceMs)
    redis.call('publish', ARGV[6], ARGV[7])
  end
end
local isOpen = redis.call('pttl', KEYS[2]) < 0
if restores then
  if not isOpen then redis.call('set', KEYS[2], '', 'PX', graceMs) end
elseif not isOpen or known ~= generation then
  return { generation, 0 }
end
local standing, left = redis.call('get', KEYS[3]), redis.call('pttl', KEYS[3])
if value ~= '' and (not standing or restores and not isOpen and left < ttl) then
  redis.call('set', KEYS[3], value, 'PX', ttl)
  standing = false
end
return { generation, isOpen and 1 or 0, standing, left }`

export class RedisKeys implements SharedStore {
  readonly #redis: RedisStore
  readonly #graceMs: number

  constructor(redis: RedisStore, grace = graceMs) {
    this.#redis = redis
    this.#graceMs = grace
  }

  get(key: string, counter?: string): Promise<StoredClaim> {
    return this.#redis.read('get', async (redis) => {
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
    // With GET, the answer is the previous value.
    const set = this.#redis.run('claim', (redis) =>
      redis.setBuffer(key, value, 'PX', ttlMs, 'NX', 'GET'),
    )
    return (await set) ?? undefined
  }

  async session(key: string, known: string, choice: Buffer | string = '', choiceMs = 0) {
    const { slot, channel, random } = this.#redis
    const keys = [generationKey, closedKey, key].map((each) => slot + each)
    const args = [known, choice, choiceMs, this.#graceMs, random.next(), channel, generationKey]
    const run = (redis: Commands) => redis.eval(sessionScript, 3, ...keys, ...args)
    const isRead = choice.length === 0
    const step = isRead ? this.#redis.read('session', run) : this.#redis.run('session', run)
    const [generation, isOpen, value, ttlMs] = (await step) as [string, 0 | 1, string?, number?]
    const entry = value ? { value: Buffer.from(value), ttlMs: ttlMs ?? 0 } : {}
    return { generation, isOpen: isOpen === 1, ...entry }
  }

  delete(key: string, value?: Buffer): Promise<unknown> {
    if (!value) return this.#redis.run('delete', (redis) => redis.del(key))
    const { slot, channel } = this.#redis
    const announced = [channel, `${key}\n${value.toString()}`]
    return this.#redis.run('delete', (redis) =>
      redis.eval(dropScript, 1, slot + key, value, ...announced),
    )
  }

  async increment(key: string) {
    await this.#redis.run('increment', (redis) => redis.incr(key))
    // A replica that misses the message sees a different count later.
    const { channel } = this.#redis
    await this.#redis.run('publish', (redis) => redis.publish(channel, key)).catch(() => null)
  }

  watch(prefix: string, { message, listening }: Subscriber<StoredClaim>): void {
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
