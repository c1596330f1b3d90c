// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { rpcRouterSchema } from './rpc-router.ts'

const labelKey =
  'must have at most 63 letters, digits, -, _ and ., with a letter or a digit at both ends, optionally preceded by a DNS name and a /'
const labelValue =
  'must have at most 63 letters, digits, -, _ and ., and a letter or a digit at both ends'
const resource =
  "must be cpu, memory, ephemeral-storage, hugepages- and a size, or a name with a domain and '/' before it"

function faultsOf(spec: object): readonly string[] {
  const endpoints = [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }]
  const parsed = rpcRouterSchema.safeParse({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'RpcRouter',
    metadata: { name: 'any' },
    spec: { endpoints, ...spec },
  })
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
}

// The API server accepts these in an RpcRouter, but would refuse the resulting objects.
test.each([
  ['pod.labels', { '-x': 'y', 'example.com/team': 'rpc' }, [`the key "-x" ${labelKey}`]],
  ['pod.annotations', { 'x/y/z': 'y', 'Example.com/Ok': 'any' }, [`the key "x/y/z" ${labelKey}`]],
  ['pod.nodeSelector', { 'a b': 'c' }, [`the key "a b" ${labelKey}`]],
  ['pod.resources.requests', { cpus: 2, 'example.com/card': 1 }, [`"cpus" ${resource}`]],
  ['service.labels', { 'Example.com/team': 'rpc' }, [`the key "Example.com/team" ${labelKey}`]],
  ['service.annotations', { 'bad key': 'v' }, [`the key "bad key" ${labelKey}`]],
  ['monitoring.labels', { '': 'prometheus' }, [`the key "" ${labelKey}`]],
  [
    'sharedState.managed.resources.limits',
    { disk: '1Gi', 'hugepages-2Mi': 1 },
    [`"disk" ${resource}`],
  ],
  [
    'providerSelector',
    {
      matchLabels: { 'a b': 'c', 'Example.com/x': 'd/e', 'example.com/fine_1.x': '' },
      matchExpressions: [{ key: '-x', operator: 'In', values: ['good', 'not good'] }],
    },
    [
      `the key "a b" ${labelKey}`,
      `the key "Example.com/x" ${labelKey}`,
      `the key "-x" ${labelKey}`,
      `the value "d/e" ${labelValue}`,
      `the value "not good" ${labelValue}`,
    ],
  ],
])('%s %j', (field, value, faults) => {
  const [first = '', ...inner] = field.split('.')
  const nested = inner.reduceRight<object>((within, name) => ({ [name]: within }), value)
  const mode = first === 'sharedState' ? { mode: 'Managed' } : {}
  expect(faultsOf({ [first]: { ...mode, ...nested } })).toEqual(
    faults.map((fault) => `spec.${field}: ${fault}`),
  )
})

test('selectors of peers are validated', () => {
  const clients = [{ podSelector: { matchLabels: { app: 'wallet-' } } }]
  expect(faultsOf({ networkPolicy: { clients } })).toEqual([
    `spec.networkPolicy.clients.0.podSelector: the value "wallet-" ${labelValue}`,
  ])
})

test.each([
  'container.apparmor.security.beta.kubernetes.io/router',
  'container.seccomp.security.alpha.kubernetes.io/router',
  'seccomp.security.alpha.kubernetes.io/pod',
  'k8s.v1.cni.cncf.io/networks',
  'v1.multus-cni.io/default-network',
  'cni.projectcalico.org/ipAddrs',
  'policy.cilium.io/no-track-port',
  'k8s.ovn.org/pod-networks',
  'iam.amazonaws.com/role',
  'IAM.amazonaws.com/role',
  'traffic.sidecar.istio.io/excludeOutboundIPRanges',
  'inject.istio.io/templates',
  'sidecar.istio.io/userVolume',
  'sidecar.istio.io/userVolumeMount',
  'sidecar.istio.io/proxyImage',
  'config.linkerd.io/skip-outbound-ports',
  'config.linkerd.io/proxy-image',
])('a pod cannot have the annotation %s', (key) => {
  const [fault, ...others] = faultsOf({ pod: { annotations: { [key]: 'x' } } })
  expect(fault).toContain(
    `spec.pod.annotations: the annotation ${key.toLowerCase()} is reserved for`,
  )
  expect(others).toEqual([])
})

test.each([
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'prometheus.io/scrape',
  'sidecar.istio.io/inject',
  'proxy.istio.io/config',
  'linkerd.io/inject',
  'config.linkerd.io/proxy-cpu-request',
  'kubectl.kubernetes.io/restartedAt',
  'ad.datadoghq.com/router.logs',
  'example.com/projectcalico.org',
])('a pod can have the annotation %s', (key) => {
  expect(faultsOf({ pod: { annotations: { [key]: 'x' } } })).toEqual([])
})
