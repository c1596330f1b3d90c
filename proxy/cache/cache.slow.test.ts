// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/* 100,000 schedules of cache.property.test.ts: `make test-slow TEST_ARGS=proxy/cache`. */

process.env['CACHE_RUNS'] ??= '100000'
await import('./cache.property.test.ts')
