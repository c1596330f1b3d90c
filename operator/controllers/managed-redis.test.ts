// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseConfig } from '../../proxy/config/parse.ts'
import { configMaps, deployments, rpcRouters, secrets, statefulSets } from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

test('a router with a managed Redis is accepted, and its pods can read their config', async () => {
  await using desk = new OperatorDesk()
  desk.provider('a')
  desk.router('r', { replicas: 3, sharedState: { mode: 'Managed' } })
  await desk.pass()
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Accepted: expect.stringMatching(/^True/),
    Programmed: expect.stringMatching(/^True/),
  })
  expect([desk.names(statefulSets), desk.names(secrets), desk.names(deployments)]).toEqual([
    ['r-redis'],
    ['r-redis'],
    ['r-router'],
  ])
  const [name = ''] = desk.names(configMaps)
  const text = desk.get(configMaps, name).data?.['router.yml'] ?? ''
  const [container] = desk.get(deployments, 'r-router').spec?.template.spec?.containers ?? []
  const ofSecrets = container?.env?.flatMap(({ name: variable, valueFrom }) =>
    valueFrom?.secretKeyRef?.name === 'r-redis' ? variable : [],
  )
  const environment = Object.fromEntries(
    (ofSecrets ?? []).map((variable) => [variable, 'p4ssword']),
  )
  const { config, problems } = parseConfig(text, { environment, flags: {} })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(config).toMatchObject({ sharedState: true, store: { topology: 'standalone' } })
  expect(config?.store?.password?.reveal()).toBe('p4ssword')
  // The same password at the next pass.
  const { data } = desk.get(secrets, 'r-redis')
  await desk.pass(600_000)
  expect(desk.get(secrets, 'r-redis').data).toEqual(data)
  desk.router('r', { replicas: 3 })
  await desk.pass()
  expect([desk.names(statefulSets), desk.names(secrets)]).toEqual([[], []])
})
