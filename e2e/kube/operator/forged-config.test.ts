// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import {
  type ConfigMap,
  configMaps,
  deployments,
  networkPolicies,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { keyHeader } from './fleet.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet } from './running-operator.ts'

/*
 * An attacker may delete and create ConfigMaps, but neither read Secrets nor write Deployments, and
 * replaces the config of a router.
 */

const operated = useOperatedFleet()
const { fleet } = operated
async function podsOf(router: string): Promise<string> {
  const { spec } = await fleet.get(deployments, `${router}-router`)
  return JSON.stringify([spec.template, (await configMapOf(router)).data])
}

async function configMapOf(router: string): Promise<ConfigMap> {
  const { spec } = await fleet.get(deployments, `${router}-router`)
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  return fleet.get(configMaps, name ?? '')
}

async function forge(router: string): Promise<void> {
  const { metadata, data = {}, ...rest } = await configMapOf(router)
  const { name, namespace, labels, annotations, ownerReferences } = metadata
  const evil = Object.entries(data).map(([key, text]) => [
    key,
    text.replaceAll('node.example', 'evil.example').replaceAll(`${router}-keys`, 'top'),
  ])
  await fleet.delete(configMaps, name)
  await fleet.create(configMaps, {
    ...rest,
    metadata: { name, namespace, labels, annotations, ownerReferences },
    data: Object.fromEntries(evil),
  } as KubeObject)
}

test('a forged config is repaired, and discloses no Secret', async () => {
  await fleet.secret('top', { key: 'of another user' })
  await fleet.secret('r-keys', { key: 'ours' })
  await fleet.provider('r', 'a', keyHeader('r-keys'))
  await fleet.provider('r', 'b')
  await fleet.router('r')
  await fleet.routerIs('r', 'Ready', 'Ready')
  await quiet(operated.running)
  const before = await podsOf('r')
  await forge('r')
  await eventually(async () => expect(await podsOf('r')).toBe(before))
  await fleet.routerIs('r', 'Programmed', 'Programmed')
})

test('changes of the ConfigMaps open no port', async () => {
  await fleet.provider('p', 'p-a')
  await fleet.router('p')
  await fleet.routerIs('p', 'Ready', 'Ready')
  const old = (await configMapOf('p')).metadata.name
  // This makes another config. The first remains for its ReplicaSet.
  await fleet.provider('p', 'p-b')
  await fleet.providerIs('p-b', 'Ready', 'Ready')
  await quiet(operated.running)
  const policy = () => fleet.get(networkPolicies, 'p-router')
  const before = (await policy()).spec
  for (const name of [old, (await configMapOf('p')).metadata.name]) {
    const annotations = {
      'rpcrouter.dev/egress-ports': 'abc,22',
      'rpcrouter.dev/listen-ports': '22,99999999',
    }
    await fleet.patch(configMaps, name, { metadata: { annotations } })
  }
  await fleet.provider('p', 'p-c')
  await fleet.providerIs('p-c', 'Ready', 'Ready')
  await quiet(operated.running)
  expect((await policy()).spec).toEqual(before)
  await fleet.routerIs('p', 'Programmed', 'Programmed')
})
