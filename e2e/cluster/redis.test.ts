// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import { nodePod, provider, router, startNode, usePlace } from './cluster.ts'
import { Load, settled } from './load.ts'

/*
 * Replicas that share sticky sessions through a managed Redis.
 */

const place = usePlace('redis')
const { namespace, run, apply } = place

/** Sends requests of ten sessions on new connections, so that all replicas get each session. */
const sessions = `
const chosen = {}
let outcomes = {}
let asked = 0
setInterval(async () => {
  const session = 'session-' + (asked++ % 10)
  const outcome = await fetch('http://mainnet-router.${namespace}.svc:3360', {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', 'rpc-stickiness': session },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
  }).then(
    async (answer) => {
      const { error } = await answer.json()
      if (error) return answer.status + ' ' + error.data.reason
      const all = (chosen[session] ??= [])
      const provider = answer.headers.get('rpc-provider-address')
      if (!all.includes(provider)) all.push(provider)
      return 'answer'
    },
    (error) => String(error.cause ?? error),
  )
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}, 50)
require('node:http').createServer((_, response) => {
  response.end(JSON.stringify({ chosen, outcomes }))
  outcomes = {}
}).listen(8080)`

/** All outcomes so far. */
const allOutcomes = new Set<string>()

/** All providers of each session, and the outcomes since the last call. */
async function sessionReport() {
  const now = JSON.parse(await place.ask('sessions:8080', '/')) as {
    chosen: Record<string, string[]>
    outcomes: Record<string, number>
  }
  for (const outcome of Object.keys(now.outcomes)) allOutcomes.add(outcome)
  return now
}

/** Waits for a hundred requests, all of them with an answer. */
async function untilAnswered(): Promise<void> {
  let answers = 0
  await eventually(async () => {
    const { answer = 0, ...others } = (await sessionReport()).outcomes
    answers = Object.keys(others).length === 0 ? answers + answer : 0
    expect(answers).toBeGreaterThan(100)
  }, 60_000)
}

beforeAll(async () => {
  await startNode(place, 'node')
  await apply(
    ...[provider(place, 'alpha', 'node'), provider(place, 'beta', 'node', 'other')],
    router('mainnet', { replicas: 3, sharedState: { mode: 'Managed' } }),
  )
  await settled(place, 'mainnet')
  await apply(nodePod('sessions', '-e', sessions))
  await run('wait', '--for=condition=Ready', 'pod/sessions', '--timeout=30s')
})

test('all replicas use the same node for a session', async () => {
  await eventually(async () => {
    const { chosen } = await sessionReport()
    expect(Object.keys(chosen)).toHaveLength(10)
  }, 30_000)
  await untilAnswered()
  const { chosen } = await sessionReport()
  expect(Object.values(chosen).every((providers) => providers.length === 1)).toBe(true)
  expect(new Set(Object.values(chosen).flat())).toEqual(new Set(['alpha', 'beta']))
  expect(await adopted()).toBeGreaterThan(0)
})

test('without Redis sessions fail closed, other requests succeed, and both recover', async () => {
  const load = await Load.start(place, 'mainnet')
  const { chosen: before } = await sessionReport()
  await load.during('Redis deleted', async () => {
    await run('delete', 'pod', 'mainnet-redis-0', '--wait=false')
    await eventually(async () => {
      await sessionReport()
      expect(allOutcomes).toContain('503 session-store')
    }, 30_000)
    await run('wait', '--for=condition=Ready', 'pod/mainnet-redis-0', '--timeout=90s')
    await untilAnswered()
  })
  expect([...allOutcomes].toSorted()).toEqual(['503 session-store', 'answer'])
  expect((await sessionReport()).chosen, 'no session has moved').toEqual(before)
})

/** Number of times that a replica adopted the choice of another. */
async function adopted(): Promise<number> {
  const { items } = await place.get('pods', '-l', 'app.kubernetes.io/component=router')
  let sum = 0
  for (const { metadata } of items) {
    const metrics: string = await place.ask(`${metadata.name}:7779`, '/metrics')
    const lines = metrics.matchAll(/^router_csm_sticky_claims_total\{.*"adopted".*\} (\d+)$/gm)
    for (const [, count] of lines) sum += Number(count)
  }
  return sum
}
