// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { horizontalPodAutoscalers, rpcRouters } from '../resources/kinds.ts'

test('metrics of an autoscaler reconcile no router, its decisions do', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { autoscaling: { minReplicas: 2, maxReplicas: 9 } })
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  const { metadata } = harness.get(horizontalPodAutoscalers, 'r-router')
  const conditions = [
    {
      type: 'AbleToScale',
      status: 'True',
      reason: 'ReadyForNewScale',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]
  const report = async (status: object) => {
    harness.api.putStatus(horizontalPodAutoscalers, metadata, { conditions, ...status })
    await harness.pass()
  }
  await report({ desiredReplicas: 2 })
  harness.reconciled.length = 0
  for (const averageUtilization of [31, 32, 33]) {
    const current = { averageUtilization, averageValue: `${averageUtilization}m` }
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current } }]
    await report({ desiredReplicas: 2, currentReplicas: 2, currentMetrics })
  }
  expect(harness.reconciled).toEqual([])
  await report({ desiredReplicas: 4 })
  expect(harness.status(rpcRouters, 'r')['autoscaling']).toMatchObject({ desiredReplicas: 4 })
  const { spec, ...rest } = harness.get(horizontalPodAutoscalers, 'r-router')
  harness.api.put(horizontalPodAutoscalers, { ...rest, spec: { ...spec, maxReplicas: 3 } } as never)
  await harness.pass()
  expect(harness.get(horizontalPodAutoscalers, 'r-router').spec.maxReplicas).toBe(9)
})
