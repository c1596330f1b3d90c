// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RedisStore } from '../redis/redis.ts'

/** A choice that some replica stored. */
export interface Claim {
  /** Name of the upstream. */
  readonly node: string
  /** Until it ends, on the clock of the store. */
  readonly leftMs: number
}

/** Receives what other replicas do. */
export interface ClaimListener {
  /** This choice was dropped. */
  dropped(key: string, node: string): void
  /** Whether drops are received; earlier ones may have been missed. */
  listening(isUp: boolean): void
}

/** Where replicas keep the choices of sessions. Each method throws when the store fails. */
export interface ClaimStore {
  /** The choice that stands; null: none. */
  find(key: string): Promise<Claim | null>
  /** Stores a choice unless there is one. @returns the node of the one that stands; null: this one is stored */
  claim(key: string, node: string, ttlMs: number): Promise<string | null>
  /** Removes a choice, unless it is another one by now, and announces that to all replicas. */
  drop(key: string, node: string): Promise<void>
  listen(listener: ClaimListener): void
}

const channel = 'sticky:dropped'

/** Compares, deletes and announces at once: a newer choice of another replica is not deleted. */
const dropScript = `
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
return redis.call('publish', ARGV[2], ARGV[3])`

/** The claims in a Redis, each under a key that ends by itself. */
export class RedisClaims implements ClaimStore {
  readonly #redis: RedisStore

  constructor(redis: RedisStore) {
    this.#redis = redis
  }

  find(key: string): Promise<Claim | null> {
    return this.#redis.run(async (redis) => {
      const [node, leftMs] = await Promise.all([redis.get(nameOf(key)), redis.pttl(nameOf(key))])
      return node === null || leftMs <= 0 ? null : { node, leftMs }
    })
  }

  claim(key: string, node: string, ttlMs: number): Promise<string | null> {
    // With GET the answer is the value that stood before.
    return this.#redis.run((redis) => redis.set(nameOf(key), node, 'PX', ttlMs, 'NX', 'GET'))
  }

  async drop(key: string, node: string): Promise<void> {
    const announced = [this.#redis.channel(channel), `${key} ${node}`]
    await this.#redis.run((redis) => redis.eval(dropScript, 1, nameOf(key), node, ...announced))
  }

  listen({ dropped, listening }: ClaimListener): void {
    const message = (text: string) => {
      const [, key, node] = /^(\S+) (.+)$/.exec(text) ?? []
      if (key !== undefined && node !== undefined) dropped(key, node)
    }
    this.#redis.subscribe(channel, { message, listening })
  }
}

function nameOf(key: string): string {
  return `sticky:${key}`
}
