// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RouterConfig } from '../config/types.ts'
import type { SharedKeys, StoreParts } from '../redis/shared-keys.ts'
import { readTls } from '../upstream/wire/upstream-target.ts'

/** Opens a connection to the store that replicas share. @throws TlsFileError */
export type OpenStore = (parts: StoreParts) => SharedKeys

/** Loads the client of the store in the config, some 6 MB and 40 ms, or more; null: there is none. */
export async function loadStore({ store, cacheServer }: RouterConfig): Promise<OpenStore | null> {
  if (cacheServer) {
    const { CacheClient } = await import('../cache-server/cache-client.ts')
    return (parts) => new CacheClient(cacheServer, parts)
  }
  if (!store) return null
  const { RedisStore } = await import('../redis/redis.ts')
  const { RedisKeys } = await import('../redis/shared-keys.ts')
  return (parts) =>
    new RedisKeys(new RedisStore(store, { ...parts, tls: store.tls && readTls(store.tls) }))
}
