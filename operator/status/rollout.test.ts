// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { Deployment } from '../resources/kinds.ts'
import { availability, isRolledOut } from './rollout.ts'

const spec = (maxUnavailable: number | string) => ({ pod: { maxUnavailable } }) as RpcRouterSpec

function deployment(replicas: number, available: number): Deployment {
  const status = {
    observedGeneration: 1,
    replicas: available,
    updatedReplicas: available,
    readyReplicas: available,
    availableReplicas: available,
  }
  return { metadata: { generation: 1 }, spec: { replicas }, status } as Deployment
}

// The disruption controller rounds a percentage of the pods up.
test.each([
  [3, '25%', 1],
  [2, '25%', 1],
  [7, '50%', 4],
  [4, '10%', 1],
  [8, '25%', 2],
  // In floating point, 0.07 * 100 and 0.28 * 25 are more than 7.
  [100, '7%', 7],
  [25, '28%', 7],
  [3, 1, 1],
  [3, '0%', 0],
  [3, 0, 0],
])('of %i pods, maxUnavailable %s allows %i to be unavailable', (wanted, maxUnavailable, away) => {
  const drained = deployment(wanted, wanted - away)
  expect(availability(spec(maxUnavailable), drained).status).toBe('True')
  expect(isRolledOut(spec(maxUnavailable), drained)).toBe(true)
  const fewer = deployment(wanted, wanted - away - 1)
  expect(availability(spec(maxUnavailable), fewer).status).toBe('False')
  expect(isRolledOut(spec(maxUnavailable), fewer)).toBe(false)
})

test.each([
  [1, '100%'],
  [2, '100%'],
  [2, 5],
])('of %i pods, one is required even with maxUnavailable %s', (wanted, maxUnavailable) => {
  expect(availability(spec(maxUnavailable), deployment(wanted, 0)).status).toBe('False')
  expect(availability(spec(maxUnavailable), deployment(wanted, 1)).status).toBe('True')
})
