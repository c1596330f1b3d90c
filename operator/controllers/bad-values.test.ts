// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import {
  configMaps,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { pemTexts } from '../testing/pem.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

/*
 * A Secret whose value the router would refuse: what the pods were started with is known to them alone.
 */

const certificate = pemTexts.get('@certificate') ?? ''

const forms = {
  header: (name: string) => ({
    headers: [{ name: 'x-api-key', valueFrom: { secretKeyRef: { name, key: 'key' } } }],
  }),
  ca: (name: string) => ({ tls: { ca: { secretKeyRef: { name, key: 'key' } } } }),
}

function put(desk: OperatorDesk, name: string, value: string): void {
  const metadata = { namespace: 'ns', name }
  const data = { key: Buffer.from(value).toString('base64') }
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject)
}

const withKey = (form: keyof typeof forms, name: string) => ({
  nodeUrls: [{ url: `https://${name}.example`, auth: forms[form](name) }],
})

/** A router whose pods run with the providers a, b and c; those of a and b with a Secret of their own. */
async function servingDesk(form: keyof typeof forms, value: string): Promise<OperatorDesk> {
  const desk = new OperatorDesk()
  for (const name of ['a', 'b']) {
    put(desk, name, value)
    desk.provider(name, '', withKey(form, name))
  }
  desk.provider('c')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

/** The names of the providers in the config that the Deployment has. */
function providersOf(desk: OperatorDesk): string {
  const { spec } = desk.get(deployments, 'r-router')
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const text = desk.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
  return [...text.matchAll(/^ {2}- name: (\S+)/gm)].map(([, found]) => found).join(' ')
}

const kinds: readonly (readonly [string, keyof typeof forms, good: string, bad: string])[] = [
  ['with a line break', 'header', 'good', 'first\nsecond'],
  ['that is empty', 'header', 'good', ''],
  ['that is too long for any process', 'header', 'good', 'x'.repeat(200_000)],
  ['that is no certificate', 'ca', certificate, 'no certificate'],
  ['that is half a certificate', 'ca', certificate, certificate.slice(0, 100)],
]

test.each(kinds)('to a value %s, pods go on with the one of before', async (_, form, good, bad) => {
  await using desk = await servingDesk(form, good)
  const { generation } = desk.get(deployments, 'r-router').metadata
  put(desk, 'a', bad)
  await desk.pass(60_000)
  expect(desk.get(deployments, 'r-router').metadata.generation).toBe(generation)
  expect(providersOf(desk)).toBe('a b c')
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Accepted: expect.stringMatching(
      /^True\/PartiallyAccepted@1: UpstreamProvider a is kept by the pods that run, as long as none has to start \((InvalidConfig|InvalidSpec|SecretKeyNotFound)\)\.$/,
    ),
    ResolvedRefs: expect.stringMatching(/^True/),
    Ready: expect.stringMatching(/^True/),
  })
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^False\/(NotAccepted|RefsNotResolved)/),
  })
  expect(desk.status(upstreamProviders, 'a')['routers']).toMatchObject([
    {
      conditions: [
        {},
        {
          type: 'Programmed',
          reason: 'NotProgrammed',
          message: expect.stringContaining('go on with what they were started with'),
        },
      ],
    },
  ])
  // As it was: nothing happened.
  put(desk, 'a', good)
  await desk.pass(60_000)
  expect(desk.get(deployments, 'r-router').metadata.generation).toBe(generation)
  expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
})

test('an operator that starts anew finds the same', async () => {
  const first = await servingDesk('header', 'good')
  put(first, 'a', 'bad\nvalue')
  await first.pass()
  const before = [first.get(deployments, 'r-router'), first.status(rpcRouters, 'r')]
  await first[Symbol.asyncDispose]()
  await using second = new OperatorDesk(first.keeper)
  await second.pass(60_000)
  expect([second.get(deployments, 'r-router'), second.status(rpcRouters, 'r')]).toEqual(before)
})

test.each([
  ['another provider changes', (desk: OperatorDesk) => desk.provider('c', 'https://new.example')],
  ['another Secret changes', (desk: OperatorDesk) => put(desk, 'b', 'second')],
  [
    'a pod is gone',
    (desk: OperatorDesk) =>
      desk.count('r', { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }),
  ],
])('when %s, new pods do without the provider until the value is good', async (_, change) => {
  await using desk = await servingDesk('header', 'good')
  put(desk, 'a', 'bad\nvalue')
  await desk.pass()
  change(desk)
  await desk.pass()
  expect(providersOf(desk)).toBe('b c')
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toContain(
    'UpstreamProvider a is left out (InvalidConfig)',
  )
  desk.rollOut('r')
  put(desk, 'a', 'better')
  await desk.pass()
  expect(providersOf(desk)).toBe('a b c')
})

test('a provider that never ran is left out, and the others are not touched', async () => {
  await using desk = await servingDesk('header', 'good')
  put(desk, 'd', 'bad\nvalue')
  const { generation } = desk.get(deployments, 'r-router').metadata
  desk.provider('d', '', withKey('header', 'd'))
  await desk.pass()
  expect(providersOf(desk)).toBe('a b c')
  expect(desk.get(deployments, 'r-router').metadata.generation).toBe(generation)
})

test('no pod is replaced where nothing else serves an endpoint, and both say so', async () => {
  await using desk = new OperatorDesk()
  put(desk, 'a', 'good')
  desk.provider('a', '', withKey('header', 'a'))
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  const { generation } = desk.get(deployments, 'r-router').metadata
  put(desk, 'a', 'bad\nvalue')
  desk.router('r', { pod: { image: 'another:1' } })
  await desk.pass()
  expect(desk.get(deployments, 'r-router').metadata.generation).toBe(generation)
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    ResolvedRefs:
      'False/SecretValueRefused@2: UpstreamProvider a: the pods run with an earlier value of the key key of the Secret a; the present one is refused, see the provider; no pod is replaced before that is mended, since nothing else serves eth1.',
    Programmed: expect.stringMatching(/^False\/NotAccepted/),
    Available: expect.stringMatching(/^True/),
  })
  expect(desk.conditions(upstreamProviders, 'a')['Accepted']).toMatch(
    /^False\/InvalidConfig@1: spec.nodeUrls\[0\].auth.headers.x-api-key: the value has a line break/,
  )
  put(desk, 'a', 'better')
  await desk.pass()
  expect(desk.get(deployments, 'r-router').metadata.generation).not.toBe(generation)
  expect(desk.conditions(rpcRouters, 'r')['ResolvedRefs']).toMatch(/^True/)
})
