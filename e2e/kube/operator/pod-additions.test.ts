// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deployments, rpcRouters } from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet } from './running-operator.ts'

const operated = useOperatedFleet()
const { place, fleet } = operated
const sample = join(import.meta.dirname, '../../../samples/pod-additions.yaml')

async function podSpec() {
  const { metadata, spec } = await fleet.get(deployments, 'additions-router')
  return { pod: spec.template.spec, version: metadata.resourceVersion }
}

test('additions of users are in the pods, are written once, and can be removed', async () => {
  await printed(kubectlFor(place.kubeconfig, place.namespace)(['apply', '-f', sample]))
  await fleet.routerIs('additions', 'Ready', 'Ready')
  const { pod } = await podSpec()
  expect(pod).toMatchObject({
    serviceAccountName: 'rpc-router-cloud',
    dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
    containers: [
      {
        name: 'router',
        env: [{ name: 'NODE_EXTRA_CA_CERTS' }],
        livenessProbe: { failureThreshold: 12, httpGet: { path: '/livez' } },
      },
      { name: 'sidecar' },
    ],
  })
  await quiet(operated.running)
  const { version } = await podSpec()
  await fleet.patch(rpcRouters, 'additions', { metadata: { labels: { touched: 'yes' } } })
  await quiet(operated.running)
  expect((await podSpec()).version).toBe(version)
  // A merge patch consumes a null, so only a list can contain one.
  const topology = [
    { op: 'add', path: '/spec/pod/patch', value: { topologySpreadConstraints: null } },
  ]
  const args = ['patch', 'rpcrouter', 'additions', '--type=json', '-p', JSON.stringify(topology)]
  await printed(kubectlFor(place.kubeconfig, place.namespace)(args))
  await eventually(async () => {
    const { pod: now } = await podSpec()
    expect(now?.containers).toHaveLength(1)
    expect(now?.topologySpreadConstraints).toBeUndefined()
  })
})

test('a patch that the API server refuses leaves the pods running, and the router reports it', async () => {
  const { pod } = await podSpec()
  const broken = { containers: [{ name: 'router', image: '' }] }
  await fleet.patch(rpcRouters, 'additions', { spec: { pod: { patch: broken } } })
  await fleet.routerIs('additions', 'Programmed', 'ApplyFailed')
  const { status } = await fleet.get(rpcRouters, 'additions')
  const programmed = status?.conditions?.find(({ type }) => type === 'Programmed')
  expect(programmed?.message).toContain('spec.template.spec.containers[0].image')
  expect((await podSpec()).pod).toEqual(pod)
})
