// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../processes/eventually.ts'
import { helm, type Kubectl, kubectlFor, printed } from '../kubectl.ts'
import { accessFor, startCluster, type TestCluster, writeKubeconfig } from '../test-cluster.ts'
import { freePort } from '../../processes/free-ports.ts'

/*
 * The chart on a separate real API server, because kinds and policies are cluster-wide.
 */

const root = join(import.meta.dirname, '../../..')
const chart = join(root, 'charts/rpc-router')
const namespace = 'rpc-router-system'
let cluster: TestCluster
let kubectl: Kubectl
const run = (...args: string[]) => printed(kubectl(args))
const onCluster = (...args: string[]) =>
  helm([...args, '--namespace', namespace], cluster.kubeconfig)

beforeAll(async () => {
  cluster = await startCluster()
  kubectl = kubectlFor(cluster.kubeconfig, namespace)
  for (const name of [namespace, 'team-a', 'team-b']) await run('create', 'namespace', name)
  await run('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted')
})

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
})

describe('the API server accepts the rendered manifests, without unknown fields', () => {
  beforeAll(async () => {
    // The Go module of the Prometheus operator has its kinds.
    const module = join(import.meta.dirname, '../modules/prometheus-operator')
    const name = 'github.com/prometheus-operator/prometheus-operator'
    const download = promisify(execFile)('go', ['mod', 'download', '-C', module, '-json', name])
    const { Dir: dir } = JSON.parse((await download).stdout) as { Dir: string }
    for (const plural of ['servicemonitors', 'podmonitors', 'prometheusrules']) {
      const file = `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`
      await run('apply', '--server-side', '-f', join(dir, file))
      // kubectl fails for a definition without conditions.
      await eventually(() =>
        run('wait', '--for=condition=Established', `crd/${plural}.monitoring.coreos.com`),
      )
    }
  }, 240_000)
  const dryRun = ['apply', '--server-side', '--dry-run=server', '--validate=strict']

  test.each(globSync(join(chart, 'ci/*-values.yaml')).map((path) => [basename(path), path]))(
    '%s',
    async (_, path = '') => {
      const args = ['template', 'rpc-router', chart, '-n', namespace, '--values', path]
      // Some objects are outside the release namespace.
      const apply = [...dryRun, '--namespace=', '-f', '-']
      const { code, stderr } = await kubectl(apply, await printed(helm(args)))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  test.each([
    ['install.yaml', ['-f', join(root, 'deploy/install.yaml')]],
    ['the kustomization', ['-k', join(root, 'deploy')]],
  ])('%s', async (_, source) => {
    // The test created the namespace above.
    const { code, stderr } = await kubectl([...dryRun, '--force-conflicts', ...source])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

test('from install to uninstall', { timeout: 90_000 }, async () => {
  await printed(onCluster('install', 'rpc-router', chart))
  await run('wait', '--for=condition=Established', 'crd/rpcrouters.rpcrouter.dev')

  // The pods exist, so the profile of the namespace admits them. No kubelet starts them here.
  await eventually(async () => {
    const names = await run(
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/component=operator',
      '-o',
      'name',
    )
    expect(names.trim().split('\n')).toHaveLength(2)
  })

  // The RBAC rules of its service account let the operator lead and work.
  await run('-n', 'team-a', 'apply', '-f', join(root, 'samples/minimal.yaml'))
  const deployment = JSON.parse(
    await run('get', 'deployment', 'rpc-router-operator', '-o', 'json'),
  ) as { spec: { template: { spec: { containers: { args: string[] }[] } } } }
  const user = `system:serviceaccount:${namespace}:rpc-router-operator`
  const access = await accessFor(cluster.folder, cluster.access, user)
  const kubeconfig = await writeKubeconfig(cluster.folder, 'operator', access, namespace)
  const operator = spawn(
    process.execPath,
    [
      join(root, 'bin/rpc-operator.mjs'),
      `--kubeconfig=${kubeconfig}`,
      `--lease-namespace=${namespace}`,
      `--listen-address=127.0.0.1:${await freePort()}`,
      ...(deployment.spec.template.spec.containers[0]?.args ?? []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let log = ''
  operator.stderr.on('data', (piece: Buffer) => (log += piece.toString()))
  try {
    await run('-n', 'team-a', 'wait', '--for=condition=Programmed', 'rpcr/minimal', '--timeout=30s')
  } finally {
    operator.kill()
    await once(operator, 'exit')
  }
  expect(log).toContain('Operator stopped')
  expect(log).not.toMatch(/orbidden/)

  // The active policy refuses older definitions, and accepts newer ones.
  const versioned = (version: string) =>
    kubectl(['annotate', '--overwrite', crd, `rpcrouter.dev/version=${version}`])
  const crd = 'crd/rpcrouters.rpcrouter.dev'
  await eventually(async () => {
    expect((await versioned('0.0.9')).stderr).toContain(
      'the definition is of version 0.0.9, and the cluster has 0.1.0',
    )
  })
  await printed(versioned('0.10.0'))
  const older = await onCluster('upgrade', 'rpc-router', chart, '--force-conflicts')
  expect(older.code).toBe(1)
  expect(older.stderr).toContain('fields that objects use would be lost')
  // A rollback cannot set a value, so a downgrade is an upgrade to the older chart.
  const rollback = await onCluster('rollback', 'rpc-router', '1', '--force-conflicts')
  expect(rollback.code).toBe(1)
  expect(rollback.stderr).toContain('fields that objects use would be lost')
  await printed(onCluster('upgrade', 'rpc-router', chart, '--set', 'crds.enabled=false'))
  expect(await run('get', crd, '-o', 'jsonpath={.metadata.annotations}')).toContain('0.10.0')
  // The way back leaves the policy in place.
  expect((await versioned('0.0.9')).stderr).toContain('fields that objects use would be lost')

  // The kinds and their objects outlive the release, and the next release adopts them.
  await printed(onCluster('uninstall', 'rpc-router'))
  const left = await run(
    '-n',
    namespace,
    'get',
    'deployment,service,pdb,networkpolicy,role',
    '-o',
    'name',
  )
  expect(left).toBe('')
  const roles = await run('get', 'clusterroles,clusterrolebindings', '-o', 'name')
  expect(roles).not.toContain('rpc-router')
  await run('-n', 'team-a', 'get', 'rpcr/minimal', 'upp/minimal-public')
  // So does the policy, unless a user allows the downgrade.
  expect((await versioned('0.1.0')).stderr).toContain('fields that objects use would be lost')
  await run('annotate', crd, 'rpcrouter.dev/allow-downgrade=0.10.0')
  await printed(versioned('0.1.0'))
  await run('annotate', crd, 'rpcrouter.dev/allow-downgrade-')
  await printed(onCluster('install', 'rpc-router', chart))
})
