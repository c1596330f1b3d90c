// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { findCluster } from '../../operator/kube/cluster.ts'
import { type ApiError, isConflict, isForbidden, isNotFound } from '../../operator/kube/errors.ts'
import { listAll } from '../../operator/kube/reflector.ts'
import {
  type ConfigMap,
  configMaps,
  type Deployment,
  deployments,
} from '../../operator/resources/kinds.ts'
import { clientOf, clusterOf } from './access.ts'
import { eventually } from '../processes/eventually.ts'
import { type Condition, pods } from './resources.ts'
import { accessFor, writeKubeconfig } from './test-cluster.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, access, folder, signal } = useNamespace()

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => expect.unreachable('it was not refused'),
    (error: ApiError) => error,
  )
}

describe('the verbs', () => {
  test('create, get, replace, merge, delete', async () => {
    const created = await client.create(configMaps, configMap('verbs', { a: '1' }), signal)
    expect(created.metadata.uid).toMatch(/-/)
    const ref = { namespace, name: 'verbs' }
    expect(await client.get(configMaps, ref, signal)).toEqual(created)
    const replaced = await client.replace(configMaps, { ...created, data: { b: '2' } }, signal)
    expect(replaced.data).toEqual({ b: '2' })
    const merged = await client.mergePatch(configMaps, ref, { data: { b: null, c: '3' } }, signal)
    expect(merged.data).toEqual({ c: '3' })
    expect(await client.delete(configMaps, ref, signal)).toBe(true)
    expect(await client.delete(configMaps, ref, signal)).toBe(false)
  })

  test('a list returns whole objects from all pages', async () => {
    for (const name of ['page-a', 'page-b', 'page-c'])
      await client.create(configMaps, configMap(name), signal)
    const first = await client.list(configMaps, { namespace, limit: 2 }, signal)
    expect(first.items).toHaveLength(2)
    expect(first.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    const rest = { namespace, limit: 100, continue: first.continue! }
    const second = await client.list(configMaps, rest, signal)
    const names = [...first.items, ...second.items].map(({ metadata }) => metadata.name)
    expect(names).toEqual(expect.arrayContaining(['page-a', 'page-b', 'page-c']))
    expect(second.continue).toBeUndefined()
    const all = await listAll(client, configMaps, { namespace }, signal)
    expect(all.items.map(({ metadata }) => metadata.name)).toEqual(names)
  })

  test('lists apply selectors', async () => {
    const labelled = { ...configMap('labelled') }
    const metadata = { ...labelled.metadata, labels: { colour: 'blue' } }
    await client.create(configMaps, { ...labelled, metadata }, signal)
    const select = { namespace, labelSelector: 'colour=blue' }
    expect((await client.list(configMaps, select, signal)).items).toHaveLength(1)
    const field = { namespace, fieldSelector: 'metadata.name=labelled' }
    expect((await client.list(configMaps, field, signal)).items).toHaveLength(1)
  })
})

describe('errors have a reason', () => {
  test('not found', async () => {
    const error = await refusal(client.get(configMaps, { namespace, name: 'none' }, signal))
    expect(isNotFound(error)).toBe(true)
    expect(error.message).toBe(
      `GET /api/v1/namespaces/${namespace}/configmaps/none: NotFound: configmaps "none" not found`,
    )
  })

  test('already exists, which is not a conflict', async () => {
    await client.create(configMaps, configMap('twice'), signal)
    const error = await refusal(client.create(configMaps, configMap('twice'), signal))
    expect([error.reason, isConflict(error)]).toEqual(['AlreadyExists', false])
  })

  test('version conflict', async () => {
    const created = await client.create(configMaps, configMap('raced'), signal)
    await client.replace(configMaps, { ...created, data: { a: '1' } }, signal)
    const error = await refusal(client.replace(configMaps, { ...created, data: {} }, signal))
    expect([error.reason, isConflict(error)]).toEqual(['Conflict', true])
  })

  test('deletion with another uid', async () => {
    await client.create(configMaps, configMap('kept'), signal)
    const uid = '00000000-0000-0000-0000-000000000000'
    const ref = { namespace, name: 'kept' }
    const error = await refusal(client.delete(configMaps, { ...ref, uid }, signal))
    expect(isConflict(error)).toBe(true)
    expect(await client.get(configMaps, ref, signal)).toMatchObject({ kind: 'ConfigMap' })
  })

  test('invalid, with the field', async () => {
    const error = await refusal(
      client.create(configMaps, configMap('bad', { 'not a key!': '' }), signal),
    )
    expect(error.status).toBe(422)
    expect(error.causes[0]).toMatchObject({ field: 'data[not a key!]' })
  })

  test('forbidden for a user without RBAC rules', async () => {
    const stranger = clientOf(await accessFor(folder, access, 'stranger'))
    const error = await refusal(stranger.list(pods, { namespace }, signal))
    expect(isForbidden(error)).toBe(true)
    expect(error.message).toContain('User "stranger" cannot list resource "pods"')
    await stranger.close()
  })
})

describe('server-side apply', () => {
  const ours = { fieldManager: 'one', force: true }
  const ofStatus = { fieldManager: 'one-status', force: true, subresource: 'status' } as const

  test('a repeated apply changes no version, and omitted fields are removed', async () => {
    const intent = configMap('applied', { a: '1', b: '2' })
    const first = await client.apply(configMaps, intent, ours, signal)
    const second = await client.apply(configMaps, intent, ours, signal)
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    const third = await client.apply(configMaps, configMap('applied', { a: '1' }), ours, signal)
    expect(third.data).toEqual({ a: '1' })
    expect(third.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion)
  })

  test('a field of another manager is a conflict, which force resolves', async () => {
    const theirs = configMap('shared', { a: 'theirs' })
    await client.apply(configMaps, theirs, { fieldManager: 'two' }, signal)
    const mine = configMap('shared', { a: 'ours' })
    const error = await refusal(client.apply(configMaps, mine, { fieldManager: 'one' }, signal))
    expect(isConflict(error)).toBe(true)
    expect(error.causes[0]).toMatchObject({ reason: 'FieldManagerConflict', field: '.data.a' })
    expect((await client.apply(configMaps, mine, ours, signal)).data).toEqual({ a: 'ours' })
  })

  test('a create by apply does not change an existing object', async () => {
    // All objects have later versions than this version of an empty etcd.
    const asNew = (object: ReturnType<typeof configMap>) => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: '1' },
    })
    const intent = configMap('new', { a: '1' })
    const made = await client.apply(configMaps, asNew(intent), ours, signal)
    expect(made.data).toEqual({ a: '1' })
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'one', operation: 'Apply' }])
    const other = configMap('new', { b: '2' })
    const refused = await refusal(client.apply(configMaps, asNew(other), ours, signal))
    expect(isConflict(refused)).toBe(true)
    const found = await client.get(configMaps, { namespace, name: 'new' }, signal)
    expect(found).toEqual(made)
    expect((await client.apply(configMaps, other, ours, signal)).data).toEqual({ b: '2' })
  })

  test('an unknown field is refused', async () => {
    const intent = { ...configMap('odd'), nothing: 1 } as object as ReturnType<typeof configMap>
    const error = await refusal(client.apply(configMaps, intent, ours, signal))
    expect(error.message).toContain('.nothing: field not declared in schema')
  })

  test('the status has a separate manager, and changes nothing else', async () => {
    const meta = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'd' } }
    const labels = { app: 'd' }
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'localhost/none:1' }] },
      },
    }
    await client.apply(deployments, { ...meta, spec }, ours, signal)
    const condition: Condition = { type: 'Ours', status: 'True', reason: 'Test', message: 'set' }
    // Applies only the status, without the spec that the type requires.
    const own = { ...meta, status: { conditions: [condition] } } as object as Deployment
    const applied = await client.apply(deployments, own, ofStatus, signal)
    expect(applied.spec).toMatchObject({ replicas: 0 })
    // The controllers also write conditions.
    expect(applied.status?.conditions).toContainEqual(expect.objectContaining(condition))
    const managers = applied.metadata.managedFields?.map(({ manager, subresource }) => [
      manager,
      subresource,
    ])
    expect(managers).toEqual(
      expect.arrayContaining([
        ['one', undefined],
        ['one-status', 'status'],
      ]),
    )
  })
})

describe('access to the cluster', () => {
  test('a kubeconfig file with a client certificate', async () => {
    const path = await writeKubeconfig(folder, namespace, access, namespace)
    const cluster = await findCluster({ env: {}, kubeconfig: path })
    expect(cluster).toMatchObject({ server: access.server, podNamespace: null })
    const other = clientOf(access, { cluster })
    expect(await other.list(pods, { namespace }, signal)).toMatchObject({ items: [] })
    await other.close()
  })

  test('a kubeconfig without the requested context', async () => {
    const path = await writeKubeconfig(folder, `${namespace}-b`, access)
    await expect(findCluster({ env: { KUBECONFIG: path }, context: 'prod' })).rejects.toThrow(
      'names no cluster; its contexts: test',
    )
  })

  test('an expired token is reloaded at once', async () => {
    const tokens = ['ended', await tokenOf('default')]
    const { tls } = await clusterOf(access).credentials()
    const cluster = {
      ...clusterOf(access),
      credentials: () =>
        Promise.resolve({
          headers: { authorization: `Bearer ${tokens.shift()}` },
          tls: { ca: tls.ca! },
        }),
    }
    const other = clientOf(access, { cluster })
    const error = await refusal(other.list(pods, { namespace }, signal))
    expect(error.message).toContain(`User "system:serviceaccount:${namespace}:default"`)
    expect(tokens).toEqual([])
    await other.close()
  })

  test('connection refused', async () => {
    const other = clientOf({ ...access, server: 'https://127.0.0.1:1' })
    await expect(other.list(pods, {}, signal)).rejects.toMatchObject({
      code: 'OP_KUBE_CONNECTION',
      message: expect.stringContaining('https://127.0.0.1:1 failed: connect ECONNREFUSED'),
    })
  })

  test('the certificate has another server name', async () => {
    const { ca } = await accessFor(folder, access, 'x')
    const cluster = clusterOf({ ...access, ca })
    const other = clientOf(access, {
      cluster: {
        ...cluster,
        credentials: async () => ({
          headers: {},
          tls: { ...(await cluster.credentials()).tls, servername: 'elsewhere.test' },
        }),
      },
    })
    await expect(other.list(pods, {}, signal)).rejects.toMatchObject({
      code: 'OP_KUBE_CONNECTION',
      message: expect.stringContaining('elsewhere.test'),
    })
  })

  async function tokenOf(name: string): Promise<string> {
    const path = `serviceaccounts/${name}/token`
    const resource = { ...pods, plural: path, kind: 'TokenRequest' }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace, name },
      spec: { expirationSeconds: 600 },
    }
    const answer = await eventually(() => client.create(resource, request as never, signal))
    return (answer as unknown as { status: { token: string } }).status.token
  }
})
