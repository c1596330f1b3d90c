// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import {
  describeWhere,
  onSystem,
  provider,
  router,
  startKubectl,
  startNode,
  usePlace,
} from './cluster.ts'
import { Load, settled } from './load.ts'

/*
 * Autoscaling of a fleet with metrics-server and the HorizontalPodAutoscaler.
 */

const metrics = await onSystem.kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes'])

describeWhere(metrics.code === 0, 'autoscaling needs metrics-server')('with metrics-server', () => {
  const place = usePlace('autoscaling')
  const { run, apply } = place
  /** Every replica count that the Deployment had. */
  const counts: number[] = []
  let watching: Awaited<ReturnType<typeof startKubectl>>
  let load: Load

  const autoscaling = { minReplicas: 2, maxReplicas: 3, targetCpuUtilizationPercent: 60 }
  const patch = (spec: object) =>
    run('patch', 'rpcr', 'mainnet', '--type=merge', '-p', JSON.stringify({ spec }))

  beforeAll(async () => {
    await startNode(place, 'node')
    await apply(provider(place, 'alpha', 'node'), router('mainnet', { autoscaling }))
    await settled(place, 'mainnet')
    const count = 'jsonpath={.spec.replicas}{"\\n"}'
    watching = await startKubectl(place, 'get', 'deployment/mainnet-router', '-w', '-o', count)
    watching.stdout.on('data', (lines: Buffer) => {
      counts.push(...(lines.toString().match(/\d+/g) ?? []).map(Number))
    })
  })

  afterAll(() => watching.kill())

  test('load adds a replica', async () => {
    await eventually(() => expect(counts.at(-1)).toBe(2))
    load = await Load.start(place, 'mainnet')
    await load.during('replicas added', async () => {
      await eventually(() => expect(counts.at(-1)).toBe(3), 300_000)
      await settled(place, 'mainnet')
    })
  }, 400_000)

  test('the router shows the status of its autoscaler', async () => {
    await eventually(async () => {
      const { status } = await place.get('rpcr', 'mainnet')
      expect(status.autoscaling.conditions).toContainEqual(
        expect.objectContaining({ type: 'ScalingActive', status: 'True' }),
      )
      expect(status.autoscaling.desiredReplicas).toBe(3)
    }, 60_000)
  })

  test('a change of the config leaves the replica count to the autoscaler', async () => {
    const already = counts.length
    await load.during('config changed', async () => {
      await patch({ relay: { strategy: 'latency' } })
      await settled(place, 'mainnet')
    })
    expect(new Set([3, ...counts.slice(already)])).toEqual(new Set([3]))
  })

  test('turning autoscaling off and on never lowers the replica count', async () => {
    const already = counts.length
    await load.during('autoscaling toggled', async () => {
      await patch({ autoscaling: null, replicas: 3 })
      await settled(place, 'mainnet')
      expect(await run('get', 'hpa', '-o', 'name')).toBe('')
      await patch({ autoscaling, replicas: null })
      await eventually(async () => expect(await run('get', 'hpa', '-o', 'name')).not.toBe(''))
      await settled(place, 'mainnet')
    })
    expect(new Set([3, ...counts.slice(already)])).toEqual(new Set([3]))
  })

  test('the end of the load removes the replica', async () => {
    await load.stop()
    await patch({ autoscaling: { ...autoscaling, scaleDownStabilizationSeconds: 15 } })
    const trickle = await Load.start(place, 'mainnet', 5, 'trickle')
    await trickle.during('replicas removed', async () => {
      await eventually(() => expect(counts.at(-1)).toBe(2), 300_000)
      await settled(place, 'mainnet')
    })
  }, 400_000)
})
