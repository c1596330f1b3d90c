// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  deployments,
  horizontalPodAutoscalers,
  rpcRouters,
  services,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet } from './running-operator.ts'

const operated = useOperatedFleet()
const { place, fleet } = operated
const kubectl = (args: readonly string[]) =>
  printed(kubectlFor(place.kubeconfig, place.namespace)([...args]))

async function count(router: string): Promise<number | undefined> {
  return (await fleet.get(deployments, `${router}-router`)).spec.replicas
}

test('the operator restores the count of a manually scaled Deployment', async () => {
  await fleet.provider('once', 'once-a')
  await fleet.router('once', { replicas: 2 })
  await fleet.routerIs('once', 'Ready', 'Ready')
  for (const replicas of [5, 1]) {
    await kubectl(['scale', 'deployment/once-router', `--replicas=${replicas}`])
    await eventually(async () => expect(await count('once')).toBe(2))
  }
  await quiet(operated.running)
  await fleet.routerIs('once', 'Programmed', 'Programmed')
})

test('an autoscaler beside a fixed count stops writing once the spec agrees with it', async () => {
  await fleet.provider('twice', 'twice-a')
  await fleet.router('twice', { replicas: 2 })
  await fleet.routerIs('twice', 'Ready', 'Ready')
  await kubectl(['autoscale', 'deployment', 'twice-router', '--min=4', '--max=6', '--cpu=50%'])
  await fleet.patch(rpcRouters, 'twice', { spec: { replicas: 4 } })
  await fleet.routerIs('twice', 'Programmed', 'Programmed')
  await quiet(operated.running)
  expect(await count('twice')).toBe(4)
  await fleet.routerIs('twice', 'Ready', 'Ready')
  await fleet.delete(horizontalPodAutoscalers, 'twice-router')
})

test('other fields are restored each time that another writer sets them', async () => {
  await fleet.provider('other', 'other-a')
  await fleet.router('other')
  await fleet.routerIs('other', 'Ready', 'Ready')
  const { spec } = await fleet.get(services, 'other-router')
  const port = JSON.stringify({ spec: { ports: [{ name: 'by-hand', port: 9999 }] } })
  for (let time = 0; time < 3; time++) {
    await kubectl(['patch', 'service/other-router', '-p', port])
    await eventually(async () =>
      expect((await fleet.get(services, 'other-router')).spec).toEqual(spec),
    )
  }
  await fleet.routerIs('other', 'Programmed', 'Programmed')
})
