// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { systemRandom as random } from '../clock/random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { RouterConfig } from '../config/types.ts'
import { StoreError } from '../store/store-error.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import type { StoreTrouble } from '../telemetry/health.ts'
import type { Logger } from '../telemetry/log.ts'
import { createCache, loadStores } from './stores.ts'
import type { StoreOptions } from '../store/store-options.ts'

const redis = {
  topology: 'standalone',
  addresses: [
    { host: '10.0.0.7', port: 6379 },
    { host: '::1', port: 6380 },
  ],
} as const

test('a store is named by its kind and address', async () => {
  const config = {
    store: redis,
    cacheServer: { host: 'cache', port: 7777 },
    cache: { store: null },
  }
  const { sessions, answers } = await loadStores(config as unknown as RouterConfig)
  expect(sessions?.name).toBe('10.0.0.7:6379, [::1]:6380 (resp-cache)')
  expect(answers?.name).toBe('cache:7777 (cache-be)')
})

test('a failed store is known, with its start time, until it answers again', async () => {
  const clock = new VirtualClock()
  const stores = new Map<StoreTrouble['feature'], StoreTrouble>()
  let options: StoreOptions | null = null
  const answers = {
    name: '10.0.0.7:6379 (resp-cache)',
    open: (given: StoreOptions) => {
      options = given
      return new FakeKeys(clock)
    },
  }
  createCache({ cache: { maxBytes: 1_000, isShared: true } } as RouterConfig, {
    ...{ clock, random, budget: new ByteBudget(1e6), health: { stores } },
    ...{
      logger: { warn() {}, info() {} } as unknown as Logger,
      stores: { sessions: null, answers },
    },
  })
  const change = (error: StoreError | null) => options?.onChange(error)
  expect([...stores.values()]).toEqual([])
  const since = new Date(clock.wallMs()).toISOString()
  change(new StoreError('unreachable'))
  await clock.advance(5_000)
  change(new StoreError('unauthorized'))
  const why =
    'answers are not shared between replicas: the store failed: it refuses the user name or the password'
  expect([...stores.values()]).toEqual([
    { name: '10.0.0.7:6379 (resp-cache)', feature: 'cache', why, since },
  ])
  change(null)
  expect([...stores.values()]).toEqual([])
})
