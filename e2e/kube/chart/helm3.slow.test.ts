// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ensureAssets } from '../assets.ts'
import { helm, kubectlFor, printed } from '../kubectl.ts'
import { startCluster, type TestCluster } from '../test-cluster.ts'

/*
 * The chart renders and installs with the widespread Helm 3.19 as it does with Helm 4.
 */

const chart = join(import.meta.dirname, '../../../charts/rpc-router')
const namespace = 'rpc-router-system'
const release = ['template', 'rpc-router', chart, '--namespace', namespace]
let cluster: TestCluster

beforeAll(async () => {
  await ensureAssets(process.env, ['helm3'])
  cluster = await startCluster()
}, 3_600_000)

afterAll(() => cluster[Symbol.asyncDispose]())

const helm3 = (args: readonly string[], kubeconfig?: string) => helm(args, kubeconfig, 'helm3')

/** The objects in a rendered text, in order. */
const objectsOf = (text = '') =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as object | null)
    .filter((object) => object !== null)

test.each(globSync(join(chart, 'ci/*-values.yaml')).map((path) => [basename(path), path]))(
  '%s renders to the same objects, and passes the linter',
  async (_, path = '') => {
    const values = ['--values', path]
    const [four, three] = await Promise.all(
      [helm, helm3].map((it) => printed(it([...release, ...values]))),
    )
    expect(objectsOf(three)).toEqual(objectsOf(four))
    const lint = await helm3(['lint', '--strict', chart, ...values])
    expect(lint.stdout).not.toMatch(/WARNING|ERROR/)
    expect(lint.code).toBe(0)
  },
)

test('Helm 3 refuses unknown values', async () => {
  const { code, stderr } = await helm3([...release, '--set', 'metrics.nosuchvalue=1'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/metrics.*nosuchvalue.*not allowed/s)
})

test('Helm 3 installs, upgrades and uninstalls the chart, and Helm 4 can take over', async () => {
  const place = ['--namespace', namespace]
  const run = (...args: string[]) => printed(helm3([...args, ...place], cluster.kubeconfig))
  const kubectl = kubectlFor(cluster.kubeconfig, namespace)
  const notes = await run('install', 'rpc-router', chart, '--create-namespace')
  expect(notes).toContain('rollout status deployment/rpc-router-operator')
  await run('upgrade', 'rpc-router', chart, '--set', 'replicas=3')
  const replicas = ['get', 'deployment', 'rpc-router-operator', '-o', 'jsonpath={.spec.replicas}']
  expect(await printed(kubectl(replicas))).toBe('3')
  const four = (...args: string[]) => printed(helm([...args, ...place], cluster.kubeconfig))
  const reset = ['--reset-then-reuse-values', '--set', 'replicas=2']
  await four('upgrade', 'rpc-router', chart, ...reset)
  expect(await printed(kubectl(replicas))).toBe('2')
  await four('rollback', 'rpc-router')
  expect(await printed(kubectl(replicas))).toBe('3')
  await run('uninstall', 'rpc-router')
  expect(await printed(kubectl(['get', 'deployments', '-o', 'name']))).toBe('')
  const kinds = await printed(kubectl(['get', 'crds', '-o', 'name']))
  expect(kinds).toContain('rpcrouters.rpcrouter.dev')
})
