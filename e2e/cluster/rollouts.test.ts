// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import { provider, router, startNode, usePlace } from './cluster.ts'
import { Load, settled, stateOf } from './load.ts'

/*
 * Rollouts under bursts of requests on reused connections. Some connections are idle for long, so
 * that a close by the router can meet their next request.
 */

const setting = (name: string, usual: number) => Number(process.env[name] ?? usual)
const rollouts = setting('ROLLOUTS', 2)
const requestsOfOne = Math.ceil(setting('REQUESTS', 20_000) / rollouts)
const perSecond = setting('RATE', 200)
/** Bursts need one connection for each of their requests that is in flight. */
const burstMs = 200
const maxRolloutMs = 200_000

const place = usePlace('rollouts')
let load: Load

beforeAll(async () => {
  await startNode(place, 'node')
  await place.apply(provider(place, 'alpha', 'node'), router('mainnet', { replicas: 2 }))
  await settled(place, 'mainnet')
  load = await Load.start(place, 'mainnet', perSecond, 'load', String(burstMs))
}, 300_000)

test(
  `${rollouts} rollouts fail no request on reused connections`,
  async () => {
    let requests = 0
    let failed = 0
    const failures: string[] = []
    for (let n = 1; n <= rollouts; n++) {
      const stretch = await load.measure(`rollout ${n}`, async () => {
        const before = await stateOf(place, 'mainnet')
        await place.run('rollout', 'restart', 'deployment/mainnet-router')
        await settled(place, 'mainnet', before)
        const isEnough = async () => (await load.now()).requests >= requestsOfOne
        await eventually(isEnough, (2_000 * requestsOfOne) / perSecond + 10_000)
      })
      requests += stretch.requests
      failed += stretch.failed
      for (const [reason, count] of Object.entries(stretch.failures))
        failures.push(`rollout ${n}: ${count} times ${reason}`)
    }
    process.stderr.write(`${rollouts} rollouts: ${requests} requests, ${failed} failed\n`)
    expect(failures).toEqual([])
  },
  rollouts * (maxRolloutMs + (2_000 * requestsOfOne) / perSecond),
)
