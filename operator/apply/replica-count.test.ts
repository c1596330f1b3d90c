// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { deployments, networkPolicies, rpcRouters } from '../resources/kinds.ts'

/** Sets the replica count through the scale subresource, like other managers. */
function scale(harness: OperatorHarness, replicas: number, manager: string): void {
  const { metadata, ...deployment } = harness.get(deployments, 'r-router')
  const entry = {
    manager,
    operation: 'Update' as const,
    apiVersion: 'apps/v1',
    subresource: 'scale',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  }
  harness.api.put(deployments, {
    ...deployment,
    metadata: { ...metadata, managedFields: [entry] },
    spec: { ...deployment.spec, replicas },
  } as typeof deployment & { metadata: typeof metadata })
}

async function servingHarness(): Promise<OperatorHarness> {
  const harness = new OperatorHarness()
  harness.provider('a', 'http://a.example:8545')
  harness.router('r', { replicas: 2 })
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  return harness
}

const count = (harness: OperatorHarness) => harness.get(deployments, 'r-router').spec.replicas
const programmed = (harness: OperatorHarness) =>
  harness.conditions(rpcRouters, 'r')['Programmed'] ?? ''

test('the operator restores the count each time a person changes it', async () => {
  await using harness = await servingHarness()
  for (const pauseMs of [10_000, 300_000, 10_000, 600_000]) {
    scale(harness, 5, 'kubectl')
    await harness.pass(pauseMs)
    expect(count(harness)).toBe(2)
    expect(programmed(harness)).toMatch(/^True\/Programmed@1/)
  }
})

test('a foreign autoscaler on a fixed count blocks nothing else', async () => {
  await using harness = await servingHarness()
  for (let time = 0; time < 4; time++) {
    scale(harness, 4, 'kube-controller-manager')
    await harness.pass(15_000)
    expect(count(harness)).toBe(2)
  }
  harness.provider('a', 'http://a.example:9545')
  await harness.pass()
  expect(JSON.stringify(harness.get(networkPolicies, 'r-router').spec.egress)).toContain('9545')
  expect(programmed(harness)).toMatch(/^True\/Programmed@1/)
  expect(harness.failures).toEqual([])
})

test.each([
  ['asks for the same count', { replicas: 4 }],
  ['leaves it to an autoscaler', { autoscaling: { minReplicas: 2, maxReplicas: 10 } }],
])('a spec that %s resolves the conflict at once', async (_, spec) => {
  await using harness = await servingHarness()
  harness.router('r', spec)
  await harness.pass()
  scale(harness, 4, 'kube-controller-manager')
  await harness.pass()
  expect(count(harness)).toBe(4)
  expect(programmed(harness)).toMatch(/^True\/Programmed@2/)
})
