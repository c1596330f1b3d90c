// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readManifests } from './read-manifests.ts'

const provider = (metadata: unknown, spec: object = {}) => ({
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'UpstreamProvider',
  metadata,
  spec: {
    chainId: 'ETH1',
    apiInterface: 'jsonrpc',
    nodeUrls: [{ url: 'https://a.example' }],
    ...spec,
  },
})
const secret = (fields: object) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys' },
  ...fields,
})

const read = (text: string) => readManifests([{ name: 'a.yaml', text }], 'rpc')
const namesOf = ({ providers }: ReturnType<typeof read>) =>
  providers.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
const problemsOf = ({ problems }: ReturnType<typeof read>) => problems

describe('invalid metadata is reported', () => {
  test.each([
    [{ generateName: 'alpha-' }, 'metadata.name: is missing: must be text'],
    [null, 'metadata.name: is missing: must be text'],
    [{ name: 7 }, 'metadata.name: must be text, not a number'],
    [{ name: 'a', namespace: 7 }, 'metadata.namespace: must be text, not a number'],
    [{ name: 'a', labels: { team: true } }, 'metadata.labels.team: must be text, not true'],
    [{ name: 'a', labels: ['a'] }, 'metadata.labels: must be an object, not a list'],
  ])('%j', (metadata, sentence) => {
    const set = read(stringify(provider(metadata)))
    expect(namesOf(set)).toEqual([])
    expect(problemsOf(set)[0]).toContain(sentence)
  })
})

test.each([[undefined], [null], ['']])(
  'the namespace %j is replaced by that of the command',
  (namespace) => {
    const set = read(stringify(provider({ name: 'a', namespace })))
    expect([namesOf(set), problemsOf(set)]).toEqual([['rpc/a'], []])
  },
)

describe('a duplicate object', () => {
  const text = stringify(provider({ name: 'a' }))

  test('is reported with both positions and counts once', () => {
    const set = readManifests(
      [
        { name: 'one.yaml', text },
        {
          name: 'two.yaml',
          text: `kind: Pod\n---\n${stringify(provider({ name: 'a' }, { tier: 'backup' }))}`,
        },
      ],
      'rpc',
    )
    expect(problemsOf(set)).toEqual([
      'two.yaml: UpstreamProvider rpc/a: document 2, line 3: the same object is in one.yaml, document 1, line 1: remove one of them',
    ])
    expect(namesOf(set)).toEqual(['rpc/a'])
  })

  test('is reported even if the first one is refused', () => {
    const odd = stringify(provider({ name: 'a' }, { chainId: 7 }))
    expect(problemsOf(read(`${odd}---\n${text}`)).at(-1)).toContain(
      'the same object is in a.yaml, document 1',
    )
  })

  test.each([
    ['another namespace', provider({ name: 'a', namespace: 'other' })],
    ['another name', provider({ name: 'b' })],
  ])('%s makes another object', (_, other) => {
    expect(problemsOf(read(`${text}---\n${stringify(other)}`))).toEqual([])
  })
})

describe('lists', () => {
  const items = [provider({ name: 'a' }), provider({ name: 'b' })]

  test.each([
    ['a List', JSON.stringify({ apiVersion: 'v1', kind: 'List', items })],
    [
      'a list of our kind',
      JSON.stringify({ apiVersion: 'rpcrouter.dev/v1alpha1', kind: 'UpstreamProviderList', items }),
    ],
    ['Lists in a List', JSON.stringify({ kind: 'List', items: [{ kind: 'List', items }] })],
  ])('%s', (_, text) => {
    const set = read(text)
    expect([namesOf(set), problemsOf(set)]).toEqual([['rpc/a', 'rpc/b'], []])
  })

  test('an item that is not an object is reported with its index', () => {
    expect(problemsOf(read(stringify({ kind: 'List', items: [items[0], 7] })))).toEqual([
      'a.yaml: document 1, line 1, items[1]: not a Kubernetes object: it has no kind',
    ])
  })
})

describe('the data of Secrets and ConfigMaps', () => {
  test.each([
    ['base64', { data: { k: 'czNjcmV0' } }, 's3cret'],
    ['multi-line base64', { data: { k: 'czNj\ncmV0\n' } }, 's3cret'],
    ['plain text', { stringData: { k: 's3cret' } }, 's3cret'],
    ['plain text, which overrides base64', { data: { k: 'YQ==' }, stringData: { k: 'b' } }, 'b'],
    ['null', { data: { k: null } }, ''],
    ['no data', { data: null, stringData: null }, null],
  ])('%s is read', (_, fields, value) => {
    const set = read(stringify(secret(fields)))
    expect(problemsOf(set)).toEqual([])
    expect(set.secrets.get('rpc/keys')?.get('k')).toBe(value)
  })

  test.each([
    [
      'a Secret encrypted by SOPS',
      secret({ data: { k: 'ENC[AES256_GCM,data:x]' }, sops: { version: '3' } }),
    ],
    ['a Secret of another API group', secret({ apiVersion: 'example.com/v1', data: 'x' })],
  ])('%s is ignored', (_, object) => {
    const set = read(stringify(object))
    expect([problemsOf(set), set.secrets.size]).toEqual([[], 0])
  })
})
