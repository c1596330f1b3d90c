// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getHeapStatistics } from 'node:v8'
import { CacheServer } from '../store/grpc/cache-server.ts'
import { CacheServiceStore } from '../store/grpc/cache-store.ts'
import { systemClock } from '../clock/clock.ts'
import { systemRandom } from '../clock/random.ts'
import { formatAddress, parseAddress } from '../config/fields/address.ts'
import { parseConfig } from '../config/parse.ts'
import { problemAt, quote } from '../config/problem.ts'
import { cachePort, type FlagValues } from '../config/settings.ts'
import { createAdminServer } from '../telemetry/admin-server.ts'
import { createCacheMetrics } from '../telemetry/metrics.ts'
import type { HealthAnswer } from '../telemetry/health.ts'
import { createLogger } from '../telemetry/log.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import { onceStopped } from './run.ts'
import type { CommandIo } from './validate.ts'

/**
 * Serves the cache that routers share, until SIGTERM or SIGINT.
 * @param text the listen address
 * @returns the exit code
 */
export async function serveCache(
  text: string,
  { flags, version }: { readonly flags: FlagValues; readonly version: string },
  io: CommandIo,
): Promise<number> {
  const usual = { 'metrics-listen-address': [':5555'] }
  const inputs = { flags: { ...usual, ...flags }, environment: io.environment }
  const { file, problems: found } = parseConfig([], inputs)
  const problems = [...found]
  const address = parseAddress(text, cachePort)
  if ('fault' in address)
    problems.push(problemAt('', null, `${quote(text)} ${address.fault}`, address.hint))
  for (const problem of problems) io.stderr.write(`${problemLine('router', problem)}\n`)
  if ('fault' in address || problems.length > 0) return exitCodes.invalid
  const { 'log-level': level = 'info', 'log-format': format = 'json' } = file
  const logger = createLogger({ level, format, redact: (line) => line })
  // Node's heap limit follows the container's memory, and buffers live outside the heap.
  const usualBytes = Math.floor(getHeapStatistics().heap_size_limit / 3)
  const maxBytes = (flags['cache-bytes'] && file['cache-bytes']) ?? usualBytes
  const store = new CacheServiceStore(maxBytes, systemClock, systemRandom)
  const metrics = createCacheMetrics(version, store)
  const server = new CacheServer(store, metrics.count)
  let isDraining = false
  const answer = (body: string): HealthAnswer => ({ status: isDraining ? 503 : 200, body })
  const health = {
    readiness: () => answer(isDraining ? 'draining\n' : 'ready\n'),
    overall: () => answer(isDraining ? 'Unhealthy' : 'Health status OK'),
  }
  const { 'metrics-listen-address': adminAddress, 'drain-timeout': drainMs = 0 } = file
  const admin =
    adminAddress && createAdminServer({ address: adminAddress, metrics, health, logger })
  try {
    await admin?.start()
    const port = await server.start(formatAddress(address.value))
    const at = formatAddress({ ...address.value, port })
    logger.info('cache service started', { version, address: at })
  } catch (error) {
    logger.error('the cache service cannot start', { error: error as Error })
    await admin?.close()
    return exitCodes.failed
  }
  logger.info('stopping: calls in flight are answered first', {
    signal: await onceStopped(logger),
  })
  isDraining = true
  const answered = await server.stop(systemClock, drainMs)
  await admin?.close()
  logger.info('cache service stopped')
  return answered ? exitCodes.done : exitCodes.failed
}
