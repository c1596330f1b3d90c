// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { events } from '../../../operator/kube/event-recorder.ts'
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

async function isReported(router: string): Promise<boolean> {
  const all = await fleet.list(events)
  return all.some(
    ({ regarding, reason }) => regarding?.name === router && reason === 'FieldsContested',
  )
}

test('a Deployment that was scaled by hand gets its count again, without an event', async () => {
  await fleet.provider('once', 'once-a')
  await fleet.router('once', { replicas: 2 })
  await fleet.routerIs('once', 'Ready', 'Ready')
  for (const replicas of [5, 1]) {
    await kubectl(['scale', 'deployment/once-router', `--replicas=${replicas}`])
    await eventually(async () => expect(await count('once')).toBe(2))
  }
  await quiet(operated.running)
  await fleet.routerIs('once', 'Programmed', 'Programmed')
  expect(await isReported('once')).toBe(false)
})

test('an autoscaler beside a fixed count is shown in the status, until the spec agrees with it', async () => {
  await fleet.provider('twice', 'twice-a')
  await fleet.router('twice', { replicas: 2 })
  await fleet.routerIs('twice', 'Ready', 'Ready')
  await kubectl(['autoscale', 'deployment', 'twice-router', '--min=4', '--max=6', '--cpu=50%'])
  const { message } = await fleet.routerIs('twice', 'Programmed', 'FieldsContested')
  expect(message).toBe(
    'spec.replicas of the Deployment twice-router: set again and again by a HorizontalPodAutoscaler (kube-controller-manager), and put back each time.',
  )
  await fleet.routerIs('twice', 'Ready', 'NotProgrammed')
  await eventually(() => isReported('twice'))
  await fleet.patch(rpcRouters, 'twice', { spec: { replicas: 4 } })
  await fleet.routerIs('twice', 'Programmed', 'Programmed')
  await quiet(operated.running)
  expect(await count('twice')).toBe(4)
  await fleet.routerIs('twice', 'Ready', 'Ready')
  await fleet.delete(horizontalPodAutoscalers, 'twice-router')
})

test('other fields that are restored repeatedly are reported as well', async () => {
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
  const { message } = await fleet.routerIs('other', 'Programmed', 'FieldsContested')
  expect(message).toBe(
    'fields that the operator must own of the Service other-router: set again and again by kubectl-patch, and put back each time.',
  )
})
