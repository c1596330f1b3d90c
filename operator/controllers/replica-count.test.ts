// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { deployments, networkPolicies, rpcRouters } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/** Writes the count of the Deployment as others do: through its scale subresource. */
function scale(desk: OperatorHarness, replicas: number, manager: string): void {
  const { metadata, ...deployment } = desk.get(deployments, 'r-router')
  const entry = {
    manager,
    operation: 'Update' as const,
    apiVersion: 'apps/v1',
    subresource: 'scale',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  }
  desk.keeper.put(deployments, {
    ...deployment,
    metadata: { ...metadata, managedFields: [entry] },
    spec: { ...deployment.spec, replicas },
  } as typeof deployment & { metadata: typeof metadata })
}

async function servingDesk(): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  desk.provider('a', 'http://a.example:8545')
  desk.router('r', { replicas: 2 })
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

const count = (desk: OperatorHarness) => desk.get(deployments, 'r-router').spec.replicas
const programmed = (desk: OperatorHarness) => desk.conditions(rpcRouters, 'r')['Programmed'] ?? ''

test('the operator restores the count each time a person changes it', async () => {
  await using desk = await servingDesk()
  for (const pauseMs of [10_000, 300_000, 10_000, 600_000]) {
    scale(desk, 5, 'kubectl')
    await desk.pass(pauseMs)
    expect(count(desk)).toBe(2)
    expect(programmed(desk)).toMatch(/^True\/Programmed@1/)
  }
})

test('a foreign autoscaler on a fixed count blocks nothing else', async () => {
  await using desk = await servingDesk()
  for (let time = 0; time < 4; time++) {
    scale(desk, 4, 'kube-controller-manager')
    await desk.pass(15_000)
    expect(count(desk)).toBe(2)
  }
  desk.provider('a', 'http://a.example:9545')
  await desk.pass()
  expect(JSON.stringify(desk.get(networkPolicies, 'r-router').spec.egress)).toContain('9545')
  expect(programmed(desk)).toMatch(/^True\/Programmed@1/)
  expect(desk.failures).toEqual([])
})

test.each([
  ['asks for the same count', { replicas: 4 }],
  ['leaves it to an autoscaler', { autoscaling: { minReplicas: 2, maxReplicas: 10 } }],
])('it is settled at once by a spec that %s', async (_, spec) => {
  await using desk = await servingDesk()
  desk.router('r', spec)
  await desk.pass()
  scale(desk, 4, 'kube-controller-manager')
  await desk.pass()
  expect(count(desk)).toBe(4)
  expect(programmed(desk)).toMatch(/^True\/Programmed@2/)
})
