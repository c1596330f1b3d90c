// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  type Deployment,
  deployments,
  rpcRouters,
  secrets,
  services,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { keyHeader } from './fleet.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet, writes } from './running-operator.ts'

const operated = useOperatedFleet()
const { place, fleet } = operated
const kubectl = kubectlFor(place.kubeconfig, place.namespace)
async function pause(router: string, value: 'true' | null): Promise<void> {
  const metadata = { annotations: { 'rpcrouter.dev/paused': value } }
  await fleet.patch(rpcRouters, router, { metadata })
  if (value !== null) await fleet.routerIs(router, 'Programmed', 'Paused')
}

function pods({ spec }: Deployment) {
  const [container] = spec.template.spec?.containers ?? []
  return { ...spec.template.spec, env: container?.env ?? [], envFrom: container?.envFrom ?? [] }
}

test('after an undone rollback pods refer to no key outside the spec', async () => {
  await fleet.secret('back-key', { key: 'secret' })
  await fleet.provider('back', 'back-a', keyHeader('back-key'))
  await fleet.router('back', { pod: { nodeSelector: { disk: 'fast' } } })
  await fleet.routerIs('back', 'Progressing', 'RolloutComplete')
  const wantsKey = async () => JSON.stringify(await fleet.get(deployments, 'back-router'))
  expect(await wantsKey()).toContain('back-key')
  await fleet.patch(upstreamProviders, 'back-a', {
    spec: { nodeUrls: [{ url: 'https://node.example' }] },
  })
  await fleet.patch(rpcRouters, 'back', { spec: { pod: { nodeSelector: null } } })
  await eventually(async () => expect(await wantsKey()).not.toContain('back-key'))
  await fleet.routerIs('back', 'Progressing', 'RolloutComplete')
  await pause('back', 'true')
  // Undoes to the first revision, since the two changes may be one rollout or two.
  await printed(kubectl(['rollout', 'undo', 'deployment/back-router', '--to-revision=1']))
  const undone = await fleet.get(deployments, 'back-router')
  expect(JSON.stringify(undone)).toContain('back-key')
  expect(pods(undone).nodeSelector).toEqual({ disk: 'fast' })
  await pause('back', null)
  await fleet.routerIs('back', 'Ready', 'Ready')
  const after = await fleet.get(deployments, 'back-router')
  expect(JSON.stringify(after.spec)).not.toContain('back-key')
  expect(pods(after).nodeSelector).toBeUndefined()
  await fleet.delete(secrets, 'back-key')
  await quiet(operated.running)
  await fleet.routerIs('back', 'Ready', 'Ready')
})

test('manual changes are reverted, and a new operator has nothing to write', async () => {
  await fleet.provider('hand', 'hand-a')
  await fleet.router('hand')
  await fleet.routerIs('hand', 'Ready', 'Ready')
  const [{ spec: service }, deployment] = await Promise.all([
    fleet.get(services, 'hand-router'),
    fleet.get(deployments, 'hand-router'),
  ])
  await pause('hand', 'true')
  const deploymentName = 'deployment/hand-router'
  await printed(kubectl(['set', 'env', deploymentName, 'BY_HAND=1', 'RPC_LOG=x']))
  await printed(kubectl(['set', 'resources', deploymentName, '--limits=cpu=1']))
  await printed(kubectl(['rollout', 'pause', deploymentName]))
  const template = {
    metadata: { annotations: { 'example.com/kept': 'yes' } },
    spec: {
      hostNetwork: true,
      containers: [
        { name: 'aside', image: 'aside' },
        {
          name: 'router',
          envFrom: [{ secretRef: { name: 'by-hand' } }],
          volumeMounts: [{ name: 'by-hand', mountPath: '/by-hand' }],
        },
      ],
      volumes: [{ name: 'by-hand', emptyDir: {} }],
    },
  }
  await printed(kubectl(['patch', deploymentName, '-p', JSON.stringify({ spec: { template } })]))
  const port = JSON.stringify({ spec: { ports: [{ name: 'by-hand', port: 9999 }] } })
  await printed(kubectl(['patch', 'service/hand-router', '-p', port]))
  await pause('hand', null)
  await fleet.routerIs('hand', 'Ready', 'Ready')
  const now = await fleet.get(deployments, 'hand-router')
  expect(now.spec.template.spec).toEqual(deployment.spec.template.spec)
  expect(now.spec).not.toHaveProperty('paused')
  expect(now.spec.template.metadata?.annotations).toMatchObject({ 'example.com/kept': 'yes' })
  expect((await fleet.get(services, 'hand-router')).spec).toEqual(service)
  await quiet(operated.running)
  await using second = await operated.run()
  await eventually(() => second.operator.hasSynced)
  await quiet(second)
  expect(writes(second.requests)).toEqual([])
})

test('a manual change without a pause is reverted at once, but a restart is not', async () => {
  await fleet.provider('now', 'now-a')
  await fleet.router('now')
  await fleet.routerIs('now', 'Ready', 'Ready')
  await printed(kubectl(['set', 'env', 'deployment/now-router', 'BY_HAND=1']))
  await eventually(async () =>
    expect(
      pods(await fleet.get(deployments, 'now-router')).env.map(({ name }) => name),
    ).not.toContain('BY_HAND'),
  )
  await printed(kubectl(['rollout', 'restart', 'deployment/now-router']))
  await quiet(operated.running)
  const { metadata } = (await fleet.get(deployments, 'now-router')).spec.template
  expect(metadata?.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt'])
})

test('the next router of the name adopts objects that --cascade=orphan left', async () => {
  await fleet.provider('orphan', 'orphan-a')
  await fleet.router('orphan')
  await fleet.routerIs('orphan', 'Ready', 'Ready')
  const service = async () => (await fleet.get(services, 'orphan-router')).metadata
  const { uid } = await service()
  await kubectl(['delete', 'rpcrouter/orphan', '--cascade=orphan'])
  await eventually(async () => expect((await service()).ownerReferences).toBeUndefined())
  await fleet.router('orphan')
  await fleet.routerIs('orphan', 'Ready', 'Ready')
  expect(await service()).toMatchObject({ uid, ownerReferences: [{ name: 'orphan' }] })
})
