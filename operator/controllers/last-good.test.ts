// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import {
  type ConfigMap,
  configMaps,
  type Deployment,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { digestEntries } from '../translate/digest.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

/*
 * What a provider goes back to when it is refused is read from a ConfigMap, and more people write ConfigMaps than may
 * read Secrets or write Deployments.
 */

const annotation = 'rpcrouter.dev/content-hash'

function put(desk: OperatorDesk, name: string, value: string): void {
  const metadata = { namespace: 'ns', name }
  const data = { key: Buffer.from(value).toString('base64') }
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject)
}

/** A router whose pods run with the providers a, which has a key, and b. */
async function servingDesk(): Promise<OperatorDesk> {
  const desk = new OperatorDesk()
  put(desk, 'keys', 'good')
  put(desk, 'top', 'nobody refers to it')
  const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }
  desk.provider('a', '', {
    nodeUrls: [{ url: 'https://a.example', auth: { headers: [header] } }],
  })
  desk.provider('b')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

const deploymentOf = (desk: OperatorDesk) => desk.get<Deployment>(deployments, 'r-router')

function configMapOf(desk: OperatorDesk): ConfigMap {
  const { volumes } = deploymentOf(desk).spec.template.spec ?? {}
  const name = volumes?.find(({ configMap }) => configMap)?.configMap?.name
  return desk.get<ConfigMap>(configMaps, name ?? '')
}

/** The same object with another content, as somebody makes it who may delete and create ConfigMaps. */
function forge(desk: OperatorDesk, change: (own: ConfigMap) => object): void {
  const own = configMapOf(desk)
  desk.remove(configMaps, own.metadata.name)
  const { uid: _, resourceVersion: __, generation: ___, ...metadata } = own.metadata
  desk.keeper.put(configMaps, { ...own, metadata, ...change({ ...own, metadata }) })
}

const evil = ({ data = {} }: ConfigMap): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, text]) => [
      key,
      text.replaceAll('a.example', 'evil.example').replaceAll('"name": "keys"', '"name": "top"'),
    ]),
  )

/** Refuses a as it is written, so that it goes back to what the pods run. */
function refuse(desk: OperatorDesk): void {
  desk.provider('a', 'https://refused.example:99999')
}

function pods(desk: OperatorDesk): string {
  return JSON.stringify([deploymentOf(desk).spec.template, configMapOf(desk).data])
}

describe('the last good form is what the operator wrote', () => {
  test('and nothing else: one that is there is taken', async () => {
    await using desk = await servingDesk()
    refuse(desk)
    desk.provider('b', 'https://new.example')
    await desk.pass()
    expect(pods(desk)).toMatch(/https:\/\/a\.example/)
    expect(pods(desk)).toMatch(/https:\/\/new\.example/)
  })

  test('also for an operator that starts anew', async () => {
    const first = await servingDesk()
    await first[Symbol.asyncDispose]()
    await using second = new OperatorDesk(first.keeper)
    refuse(second)
    await second.pass()
    expect(pods(second)).toMatch(/https:\/\/a\.example/)
    expect(second.conditions(rpcRouters, 'r')['Accepted']).toContain('a is kept in its last good')
  })

  const forgeries: readonly (readonly [string, (own: ConfigMap) => object])[] = [
    ['with another content', (own) => ({ data: evil(own) })],
    [
      'with another content and the hashes that fit it',
      (own) => {
        const data = evil(own)
        const { annotations } = own.metadata
        const hash = digestEntries(Object.entries(data))
        const hashes = { 'rpcrouter.dev/config-hash': hash, [annotation]: hash }
        return { data, metadata: { ...own.metadata, annotations: { ...annotations, ...hashes } } }
      },
    ],
    ['with a text more', (own) => ({ data: { ...own.data, 'more.pem': 'evil.example' } })],
    ['of another owner', (own) => ({ metadata: { ...own.metadata, ownerReferences: [] } })],
    [
      'that the router owns and does not control',
      ({ metadata }) => {
        const owners = metadata.ownerReferences?.map((each) => ({ ...each, controller: false }))
        return { metadata: { ...metadata, ownerReferences: owners } }
      },
    ],
  ]

  test.each(forgeries)('a ConfigMap of its name %s gives none', async (_, forged) => {
    await using desk = await servingDesk()
    // At once: the operator would put it right.
    forge(desk, forged)
    refuse(desk)
    await desk.pass()
    expect(pods(desk)).not.toMatch(/evil|"top"/)
    expect(desk.conditions(rpcRouters, 'r')['Accepted']).toMatch(/UpstreamProvider a is left out/)
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False/)
  })

  test.each([
    ['does not say what it has', undefined],
    ['says the beginning alone', (hash: string) => hash.slice(0, 16)],
  ])('a Deployment that %s gives none', async (_, change) => {
    await using desk = await servingDesk()
    await desk.pass()
    const { metadata, ...rest } = deploymentOf(desk)
    const { [annotation]: hash = '', ...others } = metadata.annotations ?? {}
    const annotations = { ...others, ...(change && { [annotation]: change(hash) }) }
    desk.keeper.put(deployments, { ...rest, metadata: { ...metadata, annotations } })
    refuse(desk)
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')['Accepted']).toMatch(/UpstreamProvider a is left out/)
  })
})

test('a ConfigMap of ours that somebody made anew with another content is replaced', async () => {
  await using desk = await servingDesk()
  const before = configMapOf(desk)
  const template = deploymentOf(desk).spec.template
  const asked = desk.keeper.asked.length
  forge(desk, (own) => ({ data: evil(own) }))
  const { uid } = configMapOf(desk).metadata
  await desk.pass()
  expect(configMapOf(desk).data).toEqual(before.data)
  expect(configMapOf(desk).metadata.uid).not.toBe(uid)
  expect(deploymentOf(desk).spec.template).toEqual(template)
  const writes = desk.keeper.asked.slice(asked).filter(({ plural }) => plural === 'configmaps')
  expect(writes.map(({ verb }) => verb)).toEqual(['delete', 'patch'])
})
