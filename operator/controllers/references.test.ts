// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KubeObject, Resource } from '../kube/object.ts'
import { configMaps, deployments, secrets, upstreamProviders } from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

const withKey = (name: string) => {
  const header = { name: 'x-api-key', valueFrom: { secretKeyRef: { name, key: 'key' } } }
  return { nodeUrls: [{ url: 'https://a.example', auth: { headers: [header] } }] }
}

function put(desk: OperatorDesk, resource: Resource, name: string, data: object): void {
  const { kind } = resource
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(data) }
  const metadata = { namespace: 'ns', name, annotations }
  desk.keeper.put(resource, { apiVersion: 'v1', kind, metadata, data } as KubeObject)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

function known(desk: OperatorDesk, resource: Resource, name: string): string {
  return JSON.stringify(desk.operator.references.store(resource).get(`ns/${name}`))
}

function gets(desk: OperatorDesk): number {
  return desk.keeper.asked.filter(({ verb, plural }) => verb === 'get' && plural === 'secrets')
    .length
}

test('of an object without references, only its existence is kept', async () => {
  await using desk = new OperatorDesk()
  put(desk, secrets, 'unrelated', { key: base64('canary') })
  put(desk, configMaps, 'unrelated', { key: 'canary' })
  await desk.pass()
  put(desk, secrets, 'later', { key: base64('canary') })
  await desk.pass()
  for (const [resource, name] of [
    [secrets, 'unrelated'],
    [secrets, 'later'],
    [configMaps, 'unrelated'],
  ] as const) {
    expect(known(desk, resource, name)).toContain(`"name":"${name}"`)
    expect(known(desk, resource, name)).not.toMatch(/canary|Y2FuYXJ5/)
  }
})

test('what is referred to is got once a version', async () => {
  await using desk = new OperatorDesk()
  put(desk, secrets, 'keys', { key: base64('first') })
  desk.provider('a', '', withKey('keys'))
  desk.router('r')
  await desk.pass()
  const secretHash = () =>
    desk.get(deployments, 'r-router').metadata.annotations?.['rpcrouter.dev/secret-hash']
  const before = secretHash()
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    ResolvedRefs: expect.stringMatching(/^True/),
    Ready: expect.stringMatching(/^True/),
  })
  expect(gets(desk)).toBe(1)
  put(desk, secrets, 'keys', { key: base64('second') })
  await desk.pass()
  expect(secretHash()).not.toBe(before)
  expect(gets(desk)).toBe(2)
  expect(desk.failures).toEqual([])
})

test('what is gone when it is got is missing', async () => {
  await using desk = new OperatorDesk()
  put(desk, secrets, 'keys', { key: base64('first') })
  await desk.pass()
  desk.keeper.deaf.add('secrets')
  desk.remove(secrets, 'keys')
  desk.provider('a', '', withKey('keys'))
  desk.router('r')
  await desk.pass()
  expect(desk.conditions(upstreamProviders, 'a')['ResolvedRefs']).toMatch(/^False\/SecretNotFound/)
  expect(desk.failures).toEqual([])
})
