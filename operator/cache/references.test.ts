// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  referencedKeys,
  referenceFields,
  referencePlaces,
} from '../api/testing/reference-fields.ts'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import type { KubeObject, Resource } from '../kube/object.ts'
import {
  configMaps,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'

const withKey = (name: string) => {
  const header = { name: 'x-api-key', valueFrom: { secretKeyRef: { name, key: 'key' } } }
  return { nodeUrls: [{ url: 'https://a.example', auth: { headers: [header] } }] }
}

function put(harness: OperatorHarness, resource: Resource, name: string, data: object): void {
  const { kind } = resource
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(data) }
  const metadata = { namespace: 'ns', name, annotations }
  harness.api.put(resource, { apiVersion: 'v1', kind, metadata, data } as KubeObject)
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

function known(harness: OperatorHarness, resource: Resource, name: string): string {
  return JSON.stringify(harness.operator.references.store(resource).get(`ns/${name}`))
}

function gets(harness: OperatorHarness): number {
  return harness.api.requests.filter(({ verb, plural }) => verb === 'get' && plural === 'secrets')
    .length
}

test('of an object that nothing refers to, only the metadata is stored', async () => {
  await using harness = new OperatorHarness()
  put(harness, secrets, 'unrelated', { key: base64('canary') })
  put(harness, configMaps, 'unrelated', { key: 'canary' })
  await harness.pass()
  put(harness, secrets, 'later', { key: base64('canary') })
  await harness.pass()
  for (const [resource, name] of [
    [secrets, 'unrelated'],
    [secrets, 'later'],
    [configMaps, 'unrelated'],
  ] as const) {
    expect(known(harness, resource, name)).toContain(`"name":"${name}"`)
    expect(known(harness, resource, name)).not.toMatch(/canary|Y2FuYXJ5/)
  }
})

test('a referenced object is read once per version', async () => {
  await using harness = new OperatorHarness()
  put(harness, secrets, 'keys', { key: base64('first') })
  harness.provider('a', '', withKey('keys'))
  harness.router('r')
  await harness.pass()
  const secretHash = () =>
    harness.get(deployments, 'r-router').metadata.annotations?.['rpcrouter.dev/secret-hash']
  const before = secretHash()
  expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
    ResolvedRefs: expect.stringMatching(/^True/),
    Ready: expect.stringMatching(/^True/),
  })
  expect(gets(harness)).toBe(1)
  put(harness, secrets, 'keys', { key: base64('second') })
  await harness.pass()
  expect(secretHash()).not.toBe(before)
  expect(gets(harness)).toBe(2)
  expect(harness.failures).toEqual([])
})

test('an object that is gone when it is read is reported as missing', async () => {
  await using harness = new OperatorHarness()
  put(harness, secrets, 'keys', { key: base64('first') })
  await harness.pass()
  harness.api.deaf.add('secrets')
  harness.remove(secrets, 'keys')
  harness.provider('a', '', withKey('keys'))
  harness.router('r')
  await harness.pass()
  expect(harness.conditions(upstreamProviders, 'a')['ResolvedRefs']).toMatch(
    /^False\/SecretNotFound/,
  )
  expect(harness.failures).toEqual([])
})

describe('every reference to a Secret or a ConfigMap', () => {
  test('has a case below', () => {
    const paths = referenceFields.map(({ kind, path }) => `${kind} ${path}`)
    const unknown = referencePlaces.filter((place) => !paths.some((path) => path.startsWith(place)))
    expect(unknown).toEqual([])
    expect(paths).toContain('RpcRouter .spec.tracing.headers[].valueFrom.secretKeyRef.name')
  })

  const cases = referenceFields.map((field) => [`${field.kind} ${field.path}`, field] as const)
  test.each(cases)('%s', async (_, { kind, refersTo, specWith }) => {
    await using harness = new OperatorHarness()
    if (kind === 'RpcRouter') harness.router('r', specWith('wanted'))
    else harness.provider('r', '', specWith('wanted'))
    const resolved = async () => {
      await harness.pass()
      return harness.conditions(kind === 'RpcRouter' ? rpcRouters : upstreamProviders, 'r')[
        'ResolvedRefs'
      ]
    }
    const missing = `False/${refersTo}NotFound@1: .*there is no ${refersTo} wanted`
    expect(await resolved()).toMatch(new RegExp(missing))
    const resource = refersTo === 'Secret' ? secrets : configMaps
    const value = (key: string) => (refersTo === 'Secret' ? base64(key) : `id: ${key}`)
    const data = Object.fromEntries(referencedKeys.map((key) => [key, value(key)]))
    put(harness, resource, 'wanted', data)
    expect(await resolved()).toMatch(/^True/)
    // The watch continues, so the operator notices the removal.
    harness.remove(resource, 'wanted')
    expect(await resolved()).toMatch(new RegExp(missing))
    expect(harness.failures).toEqual([])
  })
})

test('a Secret enqueues an object only while the object refers to it', async () => {
  await using harness = new OperatorHarness()
  put(harness, secrets, 'keys', { key: base64('first') })
  harness.provider('a', '', withKey('keys'))
  harness.router('r')
  await harness.pass()
  const reconciledBy = async (change: () => void) => {
    harness.reconciled.length = 0
    change()
    await harness.pass()
    return new Set(harness.reconciled)
  }
  const rotate = (value: string) => () => put(harness, secrets, 'keys', { key: base64(value) })
  expect(await reconciledBy(rotate('second'))).toEqual(new Set(['ns/a', 'ns/r']))
  expect(await reconciledBy(() => put(harness, secrets, 'other', {}))).toEqual(new Set())
  await reconciledBy(() => harness.provider('a'))
  expect(await reconciledBy(rotate('third'))).toEqual(new Set())
  await reconciledBy(() => harness.provider('a', '', withKey('keys')))
  await reconciledBy(() => harness.remove(rpcRouters, 'r'))
  expect(await reconciledBy(rotate('fourth'))).toEqual(new Set(['ns/a']))
  await reconciledBy(() => harness.remove(upstreamProviders, 'a'))
  expect(await reconciledBy(rotate('fifth'))).toEqual(new Set())
})
