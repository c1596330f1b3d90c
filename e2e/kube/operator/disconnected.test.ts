// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { useNamespace } from '../test-namespace.ts'
import { Fleet, keyHeader } from './fleet.ts'
import { grantRules, runOperator } from './running-operator.ts'

const place = useNamespace()
const fleet = new Fleet(place)

/** Runs the operator, stops it, makes a change, and runs it again. */
async function whileAway(change: () => Promise<void>): Promise<AsyncDisposable> {
  await change()
  return runOperator({ ...place, namespaces: [place.namespace] })
}

test('a router that is deleted and recreated under its name gets new objects', async () => {
  const as = await grantRules({ ...place, namespaces: [place.namespace] })
  const first = await runOperator({ ...place, namespaces: [place.namespace] }, { as })
  await fleet.provider('again', 'again-a')
  await fleet.router('again')
  await fleet.routerIs('again', 'Programmed', 'Programmed')
  const before = await fleet.get(deployments, 'again-router')
  await first.stop()
  await using _ = await whileAway(async () => {
    await fleet.delete(rpcRouters, 'again')
    await fleet.router('again', { replicas: 3 })
  })
  await fleet.routerIs('again', 'Programmed', 'Programmed')
  const router = await fleet.get(rpcRouters, 'again')
  await eventually(async () => {
    const after = await fleet.get(deployments, 'again-router')
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(after.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([router.metadata.uid])
    expect(after.spec.replicas).toBe(3)
  })
})

test('changes made without an operator are applied', async () => {
  const first = await runOperator({ ...place, namespaces: [place.namespace] })
  await fleet.secret('meanwhile-keys', { key: 'first' })
  await fleet.provider('meanwhile', 'meanwhile-a', keyHeader('meanwhile-keys'))
  await fleet.provider('meanwhile', 'meanwhile-b')
  await fleet.router('meanwhile')
  await fleet.routerIs('meanwhile', 'Programmed', 'Programmed')
  const before = await fleet.get(deployments, 'meanwhile-router')
  await first.stop()
  await using _ = await whileAway(async () => {
    await fleet.patch(secrets, 'meanwhile-keys', { stringData: { key: 'second' } })
    await fleet.delete(upstreamProviders, 'meanwhile-b')
    await fleet.provider('meanwhile', 'meanwhile-c')
  })
  await fleet.providerIs('meanwhile-c', 'Ready', 'Ready')
  const after = await fleet.get(deployments, 'meanwhile-router')
  const [now, then] = [after, before].map(({ metadata }) => metadata.annotations)
  expect(now?.['rpcrouter.dev/secret-hash']).not.toBe(then?.['rpcrouter.dev/secret-hash'])
  expect((await fleet.get(rpcRouters, 'meanwhile')).status?.summary?.providers).toBe('2/2')
})
