// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCluster } from './cluster.ts'
import { inCluster } from './cluster.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cluster-test-'))
})
afterAll(() => rm(folder, { recursive: true }))

function kubeconfig(user: object, cluster: object = {}): string {
  const server = { server: 'https://api.test:6443', ...cluster }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: server }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', namespace: 'team' } },
      { name: 'broken', context: { cluster: 'gone', user: 'u' } },
    ],
    'current-context': 'main',
  })
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

describe('a kubeconfig', () => {
  test.each<[string, object, object]>([
    ['a token', { token: 't0ken' }, { headers: { authorization: 'Bearer t0ken' }, tls: {} }],
    [
      'user and password',
      { username: 'ann', password: 'pw' },
      { headers: { authorization: 'Basic YW5uOnB3' }, tls: {} },
    ],
    [
      'a client certificate',
      { 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') },
      { headers: {}, tls: { cert: 'CERT', key: 'KEY' } },
    ],
    [
      'a plugin',
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: 'echo',
          args: ['{"status":{"token":"from-plugin"}}'],
        },
      },
      { headers: { authorization: 'Bearer from-plugin' }, tls: {} },
    ],
  ])('with %s', async (name, user, credentials) => {
    const path = await file(name.replaceAll(' ', '-'), kubeconfig(user))
    const cluster = await findCluster({ env: { KUBECONFIG: path } })
    expect(cluster).toMatchObject({ server: 'https://api.test:6443', podNamespace: null })
    expect(await cluster.credentials()).toEqual(credentials)
  })

  test('with a CA, another server name, a proxy and insecure-skip-tls-verify', async () => {
    const trust = {
      'certificate-authority-data': btoa('CA'),
      'tls-server-name': 'inner.test',
      'proxy-url': 'http://proxy.test:3128',
      'insecure-skip-tls-verify': true,
    }
    const path = await file('trust', kubeconfig({ token: 't' }, trust))
    const cluster = await findCluster({ env: {}, kubeconfig: path })
    expect(cluster.proxyUrl).toBe('http://proxy.test:3128')
    expect((await cluster.credentials()).tls).toEqual({
      ca: 'CA',
      servername: 'inner.test',
      rejectUnauthorized: false,
    })
  })

  test.each<[string, string, string | undefined, string]>([
    ['that is missing', '/nowhere/config', undefined, '/nowhere/config cannot be read: ENOENT'],
    ['without that context', 'a-token', 'prod', 'names no cluster; its contexts: main, broken'],
    ['without that cluster', 'a-token', 'broken', 'the context "broken" of the kubeconfig'],
  ])('%s', async (_, name, context, message) => {
    const path = name.startsWith('/') ? name : await file(name, kubeconfig({ token: 't' }))
    const options = { env: {}, kubeconfig: path, ...(context && { context }) }
    await expect(findCluster(options)).rejects.toThrow(message)
  })

  test('behind a SOCKS proxy is refused', async () => {
    const path = await file('socks', kubeconfig({}, { 'proxy-url': 'socks5://p.test:1080' }))
    await expect(findCluster({ env: {}, kubeconfig: path })).rejects.toThrow('SOCKS')
  })

  test.each([
    ['the first', ['missing', 'there']],
    ['the last', ['there', 'missing']],
  ])('list of which %s file is missing works as with kubectl', async (_, names) => {
    await file('there', kubeconfig({ token: 't' }))
    const KUBECONFIG = names.map((name) => join(folder, name)).join(':')
    const { server } = await findCluster({ env: { KUBECONFIG } })
    expect(server).toBe('https://api.test:6443')
    const none = { KUBECONFIG: join(folder, 'missing') }
    await expect(findCluster({ env: none })).rejects.toThrow(/missing cannot be read: ENOENT/)
  })

  test('in the home directory is the default', async () => {
    await mkdir(join(folder, '.kube'), { recursive: true })
    await file('.kube/config', kubeconfig({ token: 'home' }))
    const cluster = await findCluster({ env: { HOME: folder } })
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer home' })
  })
})

describe('the service account of a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }

  test('is read from its files, and again when the token has changed', async () => {
    await Promise.all([
      file('token', 'one\n'),
      file('ca.crt', 'CA\n'),
      file('namespace', 'operators'),
    ])
    const cluster = await inCluster(env, folder)
    expect(cluster).toMatchObject({ server: 'https://[fd00::1]:443', podNamespace: 'operators' })
    expect(await cluster.credentials()).toEqual({
      headers: { authorization: 'Bearer one' },
      tls: { ca: 'CA' },
    })
    await file('token', 'two')
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer two' })
  })

  test('without the address of the API server', async () => {
    await expect(inCluster({}, folder)).rejects.toThrow('KUBERNETES_SERVICE_HOST')
  })
})

test('the error for no cluster lists where it was looked for', async () => {
  const nowhere = join(folder, 'nowhere')
  await expect(findCluster({ env: { HOME: nowhere } })).rejects.toThrow(
    `no cluster: KUBECONFIG is not set, there is no ${nowhere}/.kube/config, and this is not a pod`,
  )
})
