// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { findAssets } from '../kube/assets.ts'
import { helm, kubectlFor, printed } from '../kube/kubectl.ts'
import { providerObject, routerObject } from '../kube/operator/fleet.ts'

const root = join(import.meta.dirname, '../..')
export const chart = join(root, 'charts/rpc-router')
export const kubeconfig = process.env['KUBECONFIG'] ?? ''
const images = process.env['E2E_IMAGES'] ?? 'localhost/'
/** The reference of an image that `make e2e` builds. */
export const imageOf = (name: string, tag = packageJson.version) => `${images}${name}:${tag}`
export const kinds = ['rpcrouters.rpcrouter.dev', 'upstreamproviders.rpcrouter.dev']
/** Namespace of the operator. */
export const system = 'rpc-router-system'
const operatorPods = 'app.kubernetes.io/component=operator'

export function placeIn(namespace: string) {
  const kubectl = kubectlFor(kubeconfig, namespace)
  const run = (...args: string[]) => printed(kubectl(args))
  return {
    ...{ namespace, kubectl, run },
    apply: (...objects: unknown[]) => printed(kubectl(['apply', '-f', '-'], ...objects)),
    get: async (...args: string[]): Promise<any> =>
      JSON.parse(await run('get', ...args, '-o', 'json')),
    /** Sends an HTTP GET to a pod, and returns the parsed answer. */
    ask: async (pod: string, path: string): Promise<any> =>
      run('get', '--raw', `/api/v1/namespaces/${namespace}/pods/${pod}/proxy${path}`),
  }
}
export type Place = ReturnType<typeof placeIn>

export const onSystem = placeIn(system)

/** Runs Helm for the release of the suite. */
export const release = (...args: string[]) =>
  printed(helm([...args, '--namespace', system], kubeconfig))

/** Deletes what an uninstall leaves: the kinds, and the policy that guards them. */
export async function removeKinds(): Promise<void> {
  const policy = 'validatingadmissionpolicy,validatingadmissionpolicybinding'
  await onSystem.run('delete', '--ignore-not-found', policy, 'rpc-router-crd-downgrade')
  await onSystem.run('delete', '--ignore-not-found', 'crd', ...kinds)
}

/** Values that every release of the chart supports. */
export const programValues = [
  ...['--set', `image.repository=${images}rpc-router-operator`],
  ...['--set', `routerImage.repository=${images}rpc-router`],
]
export const imageValues = [
  ...programValues,
  ...['--set', `redisImage.repository=${images}rpc-router-redis,redisImage.tag=e2e`],
  ...['--set', 'rbac.managedRedis=true,rbac.monitors=true'],
]

/** Installs the operator of this version, or upgrades another version to it. */
export async function installOperator(...values: string[]): Promise<void> {
  const wait = ['--wait', '--timeout', '3m']
  await release('upgrade', '--install', 'rpc-router', chart, ...imageValues, ...values, ...wait)
}

/** Creates a namespace that enforces the profile "restricted". */
export async function makeNamespace(name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  await onSystem.apply(namespace)
}

/** A namespace for one test file, on a cluster with the operator. Failed tests print its state. */
export function usePlace(name: string): Place {
  const place = placeIn(`rpc-e2e-${name}`)
  beforeAll(async () => {
    await makeNamespace(place.namespace)
    await installOperator()
  })
  beforeEach(({ onTestFailed }) => onTestFailed(() => dump(place)))
  afterAll(() => (process.env['KEEP'] ? undefined : removePlace(place)))
  return place
}

/** Skips tests that the cluster cannot run, and prints why. */
export function describeWhere(isMet: boolean, need: string): ReturnType<typeof describe.skipIf> {
  if (!isMet) process.stderr.write(`skipped: ${need}\n`)
  return isMet ? describe : describe.skip
}

async function removePlace({ namespace, run }: Place): Promise<void> {
  await run('delete', 'rpcrouters,upstreamproviders', '--all')
  await run('delete', 'pods', '--all', '--grace-period=1')
  await run('delete', 'namespace', namespace)
}

/** Starts a long-running kubectl, which the caller kills. */
export async function startKubectl(place: Place, ...args: string[]) {
  const { kubectl: program } = await findAssets(process.env)
  const all = ['--kubeconfig', kubeconfig, '--namespace', place.namespace, ...args]
  return spawn(program!, all, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Prints the state of a namespace for diagnosis. */
async function dump({ kubectl }: Place): Promise<void> {
  const questions = [
    ['get', 'nodes,pods,deployments,hpa,rpcrouters,upstreamproviders', '-A', '-o', 'wide'],
    ['get', 'rpcrouters,upstreamproviders', '-o', 'yaml'],
    ['get', 'events', '--sort-by=.lastTimestamp'],
    ['describe', 'pods'],
    ['-n', system, 'logs', '-l', operatorPods, '--prefix', '--tail=50'],
    ['logs', '-l', 'app.kubernetes.io/component=router', '--prefix', '--tail=50'],
  ]
  for (const question of questions) {
    const { stdout, stderr } = await kubectl(question)
    process.stderr.write(`\n$ kubectl ${question.join(' ')}\n${stdout}${stderr}`)
  }
}

/** A pod that complies with the profile "restricted". */
export function podOf(name: string, container: object) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 65_532 },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          imagePullPolicy: 'IfNotPresent',
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          ...container,
        },
      ],
    },
  }
}

/** A pod that runs a program of `pods/`, or a source text with `-e`. The images have no shell. */
export function nodePod(name: string, program: string, ...args: string[]) {
  const path = program.startsWith('-') ? program : `/programs/${program}.mjs`
  const command = ['/usr/local/bin/node', path, ...args]
  return podOf(name, { image: imageOf('rpc-router-pods', 'e2e'), command })
}

/** Starts a pod behind a Service of its name on port 9001. Resolves once it is ready. */
export async function serve(place: Place, pod: ReturnType<typeof podOf>): Promise<void> {
  const { name } = pod.metadata
  await place.apply(pod, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 9001 }] },
  })
  await place.run('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=60s')
}

export async function startNode(place: Place, name: string, chain = 'eth'): Promise<void> {
  const args = ['--host', '0.0.0.0', '--nodes', '1', '--block-time-ms', '2000', '--chain', chain]
  await serve(place, nodePod(name, 'main', ...args))
}

/** A provider of Ethereum for the routers of a namespace, with a node and the path of its URL. */
export function provider(place: Place, name: string, node: string, path = '', spec: object = {}) {
  const nodeUrls = [{ url: `http://${node}.${place.namespace}.svc:9001/${path}` }]
  return providerObject(place.namespace, 'mainnet', name, { nodeUrls, ...spec })
}

/** A router of Ethereum with small requests, so that many fit on a machine. */
export function router(name: string, spec: object = {}) {
  const resources = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } }
  const providerSelector = { matchLabels: { pool: 'mainnet' } }
  const least = { skipWebsocketVerification: true, providerSelector, pod: { resources } }
  return routerObject(undefined, name, { ...least, ...spec })
}
