// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { eventually } from '../processes/eventually.ts'
import {
  installOperator,
  kinds,
  onSystem,
  programValues,
  provider,
  release,
  removeKinds,
  router,
  startNode,
  usePlace,
} from './cluster.ts'
import { Load, settled, stateOf } from './load.ts'

/*
 * Operators that fail over, hang, are uninstalled and upgraded. The fleet continues to serve.
 */

const place = usePlace('operators')
const { run, apply } = place
const fleet = [provider(place, 'alpha', 'node'), router('mainnet', { replicas: 2 })]
const previous = join(import.meta.dirname, 'rpc-router-previous.tgz')
const wait = ['--wait', '--timeout', '2m']
let load: Load

const patch = (strategy: string) => {
  const spec = JSON.stringify({ spec: { relay: { strategy } } })
  return run('patch', 'rpcr', 'mainnet', '--type=merge', '-p', spec)
}
/** Name of the leading pod; empty without a leader. */
async function leader(): Promise<string> {
  const lease = await onSystem.get('lease', 'rpc-router-operator')
  return (lease.spec.holderIdentity ?? '').split('_')[0]
}
const nextLeader = (before: string) =>
  eventually(async () => {
    expect(['', before]).not.toContain(await leader())
  }, 60_000)

beforeAll(async () => {
  await startNode(place, 'node')
  await apply(...fleet)
  await settled(place, 'mainnet')
  load = await Load.start(place, 'mainnet')
})

test('one of two operators leads, and the other takes over when the leader stops', async () => {
  const { status } = await onSystem.get('deployment', 'rpc-router-operator')
  expect(status.readyReplicas).toBe(2)
  const before = await leader()
  await onSystem.run('delete', 'pod', before)
  await nextLeader(before)
})

test('a frozen leader is replaced, and writes nothing after it resumes', async () => {
  const frozen = await leader()
  await signal(frozen, 'STOP')
  onTestFinished(() => signal(frozen, 'CONT').catch(() => {}))
  const before = await stateOf(place, 'mainnet')
  await load.during('leader frozen', async () => {
    await patch('latency')
    await nextLeader(frozen)
    await settled(place, 'mainnet', before)
  })
  const after = await leader()
  const state = await stateOf(place, 'mainnet')
  await signal(frozen, 'CONT').catch(() => {})
  const startAgain = ['rollout', 'status', 'deployment/rpc-router-operator', '--timeout=120s']
  await onSystem.run(...startAgain)
  expect([await leader(), await stateOf(place, 'mainnet')]).toEqual([after, state])
})

test('an uninstall leaves the kinds with their policy, the routers and their pods, and nothing else', async () => {
  const pods = await run('get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o', 'name')
  await load.during('uninstalled', async () => {
    await release('uninstall', 'rpc-router', '--wait', '--ignore-not-found')
    const ofRelease = 'app.kubernetes.io/managed-by=Helm,app.kubernetes.io/part-of=rpc-router'
    await eventually(async () => {
      const left: string[] = []
      const resources = await run('api-resources', '--verbs=list', '-o', 'name')
      for (const resource of resources.trim().split('\n'))
        left.push(await run('get', resource, '-A', '-l', ofRelease, '-o', 'name'))
      expect(left.join('').trim().split('\n').toSorted()).toEqual([
        ...kinds.map((kind) => `customresourcedefinition.apiextensions.k8s.io/${kind}`),
        ...['policy', 'policybinding'].map(
          (kind) =>
            `validatingadmission${kind}.admissionregistration.k8s.io/rpc-router-crd-downgrade`,
        ),
      ])
    }, 60_000)
    expect(await run('get', 'rpc', '-o', 'name')).toContain('mainnet')
  })
  await load.during('installed again', async () => {
    await installOperator()
    await settled(place, 'mainnet')
    await patch('latency')
    await settled(place, 'mainnet')
  })
  const now = await run('get', 'pods', '-l', 'app.kubernetes.io/component=router', '-o', 'name')
  expect(now).toBe(pods)
})

test('an upgrade from the previous chart updates the kinds without loss', async () => {
  await load.stop()
  await release('uninstall', 'rpc-router', '--wait', '--ignore-not-found')
  await removeKinds()
  const tags = ['image.tag', 'routerImage.tag'].flatMap((name) => [
    ...['--set', `${name}=${packageJson.version}`],
  ])
  await release('install', 'rpc-router', previous, ...programValues, ...tags, ...wait)
  await eventually(() => apply(...fleet))
  await settled(place, 'mainnet')
  const specs = async () => {
    const { items } = await place.get('rpcrouters,upstreamproviders')
    return items.map(({ metadata, spec }: any) => [metadata.uid, metadata.generation, spec])
  }
  const before = await specs()
  load = await Load.start(place, 'mainnet')
  await load.during('upgraded', async () => {
    await installOperator()
    await settled(place, 'mainnet')
  })
  expect(await specs()).toEqual(before)
  for (const kind of kinds) {
    const { metadata } = await onSystem.get('crd', kind)
    expect(metadata.annotations['rpcrouter.dev/version']).toBe(packageJson.version)
  }
  expect(await run('explain', 'rpcrouter.status.autoscaling')).toContain('desiredReplicas')

  // Older definitions are refused, on the documented way back too.
  const back = ['upgrade', 'rpc-router', previous, ...programValues, ...tags, ...wait]
  const lost = /fields that objects use would be lost/
  await load.during('gone back', async () => {
    await expect(release(...back)).rejects.toThrow(lost)
    await release(...back, '--set', 'crds.enabled=false')
    await settled(place, 'mainnet')
  })
  const older = ['annotate', '--overwrite', `crd/${kinds[0]}`, 'rpcrouter.dev/version=0.0.9']
  await expect(onSystem.run(...older)).rejects.toThrow(lost)
  await installOperator()
})

/** Signals the processes of a pod from its node, which is a kind container. */
async function signal(pod: string, name: 'STOP' | 'CONT'): Promise<void> {
  const { metadata, spec } = await onSystem.get('pod', pod)
  const id = `${metadata.uid}|${metadata.uid.replaceAll('-', '_')}`
  const script = `for process in $(grep -lE '${id}' /proc/[0-9]*/cgroup | cut -d/ -f3); do
    [ "$(cat /proc/$process/comm)" = pause ] || kill -${name} $process; done`
  try {
    await promisify(execFile)('docker', ['exec', spec.nodeName, 'sh', '-c', script])
  } catch (cause) {
    const need = 'nodes that are containers of this docker, as those of kind, to freeze a pod'
    throw new Error(`make e2e needs ${need}`, { cause })
  }
}
