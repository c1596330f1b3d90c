// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWhere, onSystem, provider, router, startNode, usePlace } from './cluster.ts'
import { Load, settled } from './load.ts'

/*
 * Spread of a fleet over nodes, and drains of these nodes under load.
 */

const { items } = await onSystem.get('nodes')
const workers: string[] = items
  .filter(({ spec }: any) => !spec.taints?.some(({ effect }: any) => effect === 'NoSchedule'))
  .map(({ metadata }: any) => metadata.name)

const need = `spread and drains need two nodes that take pods, and this cluster has ${workers.length}`
describeWhere(workers.length >= 2, need)('on two nodes or more that take pods', () => {
  const place = usePlace('nodes')
  const { run, apply, kubectl } = place
  const selector = 'app.kubernetes.io/component=router'
  const [first = '', ...others] = workers
  let load: Load

  const nodes = async (): Promise<string[]> => {
    const { items: pods } = await place.get('pods', '-l', selector)
    return pods.map(({ spec }: any) => spec.nodeName as string)
  }
  const drain = (...names: string[]) =>
    kubectl(['drain', ...names, `--pod-selector=${selector}`, '--timeout=90s'])

  beforeAll(async () => {
    await startNode(place, 'node')
    await apply(provider(place, 'alpha', 'node'), router('mainnet', { replicas: 2 }))
    await settled(place, 'mainnet')
    load = await Load.start(place, 'mainnet')
  })
  afterAll(() => run('uncordon', ...workers))

  test('the pods are spread over the nodes', async () => {
    expect(new Set(await nodes()).size).toBe(2)
  })

  test('a drain of a node moves its pods, and no request fails', async () => {
    await load.during('node drained', async () => {
      expect(await drain(first)).toMatchObject({ code: 0 })
      await settled(place, 'mainnet')
    })
    expect(await nodes()).not.toContain(first)
  })

  test('a drain of all nodes leaves the pods of the budget', async () => {
    await load.during('all nodes drained', async () => {
      const { code, stderr } = await drain(...others)
      expect(code).toBe(1)
      expect(stderr).toContain("would violate the pod's disruption budget")
      await run('uncordon', ...workers)
      await settled(place, 'mainnet')
    })
  })
})
