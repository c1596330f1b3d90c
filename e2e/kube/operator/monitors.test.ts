// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { networkPolicies, podMonitors, rpcRouters } from '../../../operator/resources/kinds.ts'
import { createDefinition, deleteDefinition } from '../custom-kind.ts'
import { eventually } from '../../processes/eventually.ts'
import { hastyClock, createOperator, run } from '../in-process-operator.ts'
import { clientOf } from '../access.ts'
import { useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { grantRules } from './running-operator.ts'

const place = useNamespace()
const fleet = new Fleet(place)
const stop = new AbortController()
let running: Promise<void>

beforeAll(async () => {
  const namespaces = [place.namespace]
  const access = await grantRules({ ...place, namespaces })
  // A minute takes two seconds on this clock.
  const client = clientOf(access)
  const operator = createOperator(client, { namespaces, clock: hastyClock(30) })
  running = run(operator, stop.signal).then(() => client.close())
})

afterAll(async () => {
  stop.abort()
  await running
  await deleteDefinition(place.client, podMonitors, place.signal)
})

test('a monitor kind that is installed later is discovered', async () => {
  await fleet.provider('late', 'late-a')
  await fleet.router('late', { monitoring: { type: 'PodMonitor' } })
  await fleet.routerIs('late', 'Programmed', 'ProgrammedWithoutMonitor')
  await createDefinition(place.client, podMonitors, place.signal)
  await fleet.routerIs('late', 'Programmed', 'Programmed')
  const monitor = await eventually(() => fleet.get(podMonitors, 'late-router'))
  expect(monitor).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'RpcRouter', name: 'late' }] },
    spec: { podMetricsEndpoints: [{ port: 'metrics', path: '/metrics' }] },
  })
})

test('a removed kind blocks nothing, and is discovered again', async () => {
  await fleet.provider('gone', 'gone-a')
  await fleet.router('gone', { monitoring: { type: 'PodMonitor' } })
  await fleet.routerIs('gone', 'Programmed', 'Programmed')
  await deleteDefinition(place.client, podMonitors, place.signal)
  await fleet.routerIs('gone', 'Programmed', 'ProgrammedWithoutMonitor')
  await fleet.patch(rpcRouters, 'gone', { spec: { networkPolicy: { enabled: false } } })
  await eventually(async () => {
    const names = (await fleet.list(networkPolicies)).map(({ metadata }) => metadata.name)
    expect(names).not.toContain('gone-router')
  })
  await fleet.routerIs('gone', 'Programmed', 'ProgrammedWithoutMonitor')
  await createDefinition(place.client, podMonitors, place.signal)
  await fleet.routerIs('gone', 'Programmed', 'Programmed')
  await eventually(() => fleet.get(podMonitors, 'gone-router'))
})
