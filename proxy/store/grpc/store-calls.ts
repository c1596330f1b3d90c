// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CacheServiceStore } from './cache-store.ts'
import type { Entry, UnaryCall } from './wire.ts'

const none = new Uint8Array(0)

/**
 * The calls of the cache service, as cache.proto defines them.
 * @param announce called when watchers of the key must hear of it
 */
export function storeCalls(
  store: CacheServiceStore,
  announce: (key: string, value?: Uint8Array) => void,
): Readonly<Record<UnaryCall, (entry: Entry) => Entry | void>> {
  return {
    Get: ({ key = '', counter = '' }) => ({ ...store.get(key), count: store.counter(counter) }),
    Set: ({ key = '', value = none, ttlMs = 0 }) => store.set(key, value, ttlMs),
    Claim: ({ key = '', value = none, ttlMs = 0 }) => store.claim(key, value, ttlMs),
    Session: ({ key = '', generation = '', value, ttlMs = 0 }) =>
      store.session(key, generation, value, ttlMs),
    Delete: ({ key = '', value }) => {
      store.delete(key, value)
      announce(key, value)
    },
    Increment: ({ key = '' }) => {
      const made = { count: store.increment(key) }
      announce(key)
      return made
    },
  }
}
