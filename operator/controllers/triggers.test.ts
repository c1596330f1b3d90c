// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { horizontalPodAutoscalers, rpcRouters } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

test('what an autoscaler measures reconciles no router, what it decides does', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r', { autoscaling: { minReplicas: 2, maxReplicas: 9 } })
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  const { metadata } = desk.get(horizontalPodAutoscalers, 'r-router')
  const conditions = [
    {
      type: 'AbleToScale',
      status: 'True',
      reason: 'ReadyForNewScale',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]
  const says = async (status: object) => {
    desk.keeper.putStatus(horizontalPodAutoscalers, metadata, { conditions, ...status })
    await desk.pass()
  }
  await says({ desiredReplicas: 2 })
  desk.reconciled.length = 0
  for (const averageUtilization of [31, 32, 33]) {
    const current = { averageUtilization, averageValue: `${averageUtilization}m` }
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current } }]
    await says({ desiredReplicas: 2, currentReplicas: 2, currentMetrics })
  }
  expect(desk.reconciled).toEqual([])
  await says({ desiredReplicas: 4 })
  expect(desk.status(rpcRouters, 'r')['autoscaling']).toMatchObject({ desiredReplicas: 4 })
  const { spec, ...rest } = desk.get(horizontalPodAutoscalers, 'r-router')
  desk.keeper.put(horizontalPodAutoscalers, { ...rest, spec: { ...spec, maxReplicas: 3 } } as never)
  await desk.pass()
  expect(desk.get(horizontalPodAutoscalers, 'r-router').spec.maxReplicas).toBe(9)
})
