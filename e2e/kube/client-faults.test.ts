// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { KubeClientOptions } from '../../operator/kube/client.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import { configMaps } from '../../operator/resources/kinds.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { AnswerFault } from './chaos/faults.ts'
import { ChaosProxy } from './chaos/proxy.ts'
import { clientOf } from './access.ts'
import { eventually } from '../processes/eventually.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, access, signal } = useNamespace()

/** A client whose first requests fail, with one fault each. */
async function disturbed(faults: AnswerFault[], options: Partial<KubeClientOptions> = {}) {
  const proxy = await ChaosProxy.start(access, {
    answer: () => faults.shift() ?? null,
    watch: () => null,
  })
  const own = clientOf(proxy.access, options)
  return {
    client: own,
    proxy,
    async [Symbol.asyncDispose]() {
      await own.close()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

const retryLater = (status: number, retryAfterSeconds: number): AnswerFault => {
  return { do: 'refuse', status, reason: 'TooManyRequests', retryAfterSeconds }
}

test.each([
  [429, 1],
  [503, 600],
])('a server that answers %i leaves the retry to the caller, and says when', async (status, s) => {
  const waits: unknown[] = []
  const observer: KubeClientOptions['observer'] = {
    throttled: (...args) => waits.push(args),
  }
  await using run = await disturbed([retryLater(status, s)], { observer })
  await expect(run.client.list(configMaps, { namespace }, signal)).rejects.toMatchObject({
    code: 'OP_KUBE_API',
    status,
    retryAfterMs: s * 1_000,
  })
  expect(run.proxy.tally.get('list refuse')).toBe(1)
  expect(waits).toEqual([['configmaps', 'list', s * 1_000, 'server']])
})

describe('an incomplete answer', () => {
  test.each<[AnswerFault['do'], string, RegExp]>([
    ['cut-before', 'OP_KUBE_CONNECTION', /^GET .*configmaps: the connection to http:.* failed: /],
    ['cut-after', 'OP_KUBE_CONNECTION', /failed: /],
    ['cut-within', 'OP_KUBE_CONNECTION', /failed: /],
    ['truncate', 'OP_KUBE_MALFORMED', /the answer is not JSON$/],
  ])('%s', async (fault, code, message) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: fault } }
    await client.create(configMaps, object, signal)
    await using run = await disturbed([{ do: fault } as AnswerFault])
    const pending = run.client.list(configMaps, { namespace }, signal)
    await expect(pending).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    const { items } = await run.client.list(configMaps, { namespace }, signal)
    expect(items.map(({ metadata }) => metadata.name)).toContain(fault)
  })

  test('no answer within the timeout', async () => {
    const clock = new VirtualClock()
    await using run = await disturbed([{ do: 'slow', delayMs: 60_000 }], { clock })
    const pending = run.client.get(configMaps, { namespace, name: 'a' }, signal)
    const error = pending.catch((caught: Error) => caught)
    await eventually(() => run.proxy.tally.has('get slow'))
    await clock.advance(30_000)
    expect(await error).toMatchObject({
      code: 'OP_KUBE_TIMEOUT',
      message: `GET /api/v1/namespaces/${namespace}/configmaps/a: nothing came for 30 s`,
    })
    expect(clock.pending).toBe(0)
  })

  test('the error shows an excerpt of an intermediary page', async () => {
    const page = '<html>not the API server</html>'.repeat(100)
    const server = createServer((_, response) => response.writeHead(502).end(page))
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as { port: number }
    const own = clientOf({ ...access, server: `http://127.0.0.1:${port}` })
    const error = await own.list(configMaps, {}, signal).catch((caught: Error) => caught)
    expect((error as Error).message).toMatch(/HTTP 502: <html>not the API server.{150,200}$/)
    await own.close()
    server.closeAllConnections()
    server.close()
  })
})

test('the rate limit delays requests in order, and is reported', async () => {
  const waits: number[] = []
  const observer: KubeClientOptions['observer'] = { throttled: (_, __, ms) => waits.push(ms) }
  const slow = clientOf(access, { limit: { perSecond: 5, burst: 2 }, observer })
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: 7 }, () => slow.list(configMaps, { namespace, limit: 1 }, signal)),
  )
  // The burst allows two requests at once, and five more at intervals of 200 ms.
  expect(performance.now() - startedMs).toBeGreaterThan(950)
  expect(waits).toHaveLength(5)
  expect(waits).toEqual(waits.toSorted((a, b) => a - b))
  await slow.close()
})

test('sequential requests share connections', async () => {
  await using run = await disturbed([])
  let connections = 0
  run.proxy.onConnection(() => (connections += 1))
  for (let each = 0; each < 10; each++) await run.client.list(configMaps, { namespace }, signal)
  // The next request may start before the pool has the connection back.
  expect(connections).toBeLessThanOrEqual(2)
})

test('the outcome of each request is reported to the observer', async () => {
  const observed: unknown[] = []
  const observer: KubeClientOptions['observer'] = {
    requested: (resource, verb, outcome) => observed.push([resource, verb, outcome]),
  }
  await using run = await disturbed([{ do: 'cut-before' }], { observer, clock: systemClock })
  const ref = { namespace, name: 'none' }
  for (let each = 0; each < 2; each++) await run.client.get(configMaps, ref, signal).catch(() => {})
  await run.client.list(configMaps, { namespace }, signal)
  await run.client.list(configMaps, {}, AbortSignal.abort()).catch(() => {})
  expect(observed).toEqual([
    ['configmaps', 'get', 'OP_KUBE_CONNECTION'],
    ['configmaps', 'get', 404],
    ['configmaps', 'list', 200],
    ['configmaps', 'list', 'aborted'],
  ])
  expect(await client.list(configMaps, { namespace }, signal)).toBeDefined()
})
