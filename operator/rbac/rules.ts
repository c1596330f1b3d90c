// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { canShareState } from '../api/capabilities.ts'
import { group, rpcRouterNames, upstreamProviderNames } from '../api/group.ts'
import type { Verb } from '../kube/observer.ts'

/** What the operator may do with one kind. */
export interface Rule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly Verb[]
  /** Names that it is limited to; create cannot be limited so. */
  readonly names?: readonly string[]
}

const follow: readonly Verb[] = ['list', 'watch']
const read: readonly Verb[] = ['get', 'list', 'watch']
const own: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete']
/** Of what only a managed Redis has: nothing is written before a router can use one. */
const ofRedis = canShareState ? own : read
const routers = rpcRouterNames.plural
const providers = upstreamProviderNames.plural
const prometheus = 'monitoring.coreos.com'

const rows: readonly (readonly [group: string, resource: string, verbs: readonly Verb[]])[] = [
  [group, routers, follow],
  [group, providers, follow],
  [group, `${routers}/status`, ['patch']],
  [group, `${providers}/status`, ['patch']],
  // To own objects, so that they go with their router.
  [group, `${routers}/finalizers`, ['update']],
  // Configs of routers; CA certificates and chain specs that users keep there.
  ['', 'configmaps', own],
  // Whether keys exist and when they change; the password of a managed Redis.
  ['', 'secrets', ofRedis],
  ['', 'serviceaccounts', own],
  ['', 'services', own],
  ['apps', 'deployments', own],
  ['apps', 'statefulsets', ofRedis],
  // Which configs are still in use.
  ['apps', 'replicasets', follow],
  // Why a rollout does not go on.
  ['', 'pods', ['list']],
  ['policy', 'poddisruptionbudgets', own],
  ['autoscaling', 'horizontalpodautoscalers', own],
  ['networking.k8s.io', 'networkpolicies', own],
  [prometheus, 'podmonitors', own],
  [prometheus, 'servicemonitors', own],
  ['events.k8s.io', 'events', ['create', 'patch']],
]

/** Everything that the operator does in the namespaces of routers. The tests run it under exactly these rules. */
export const namespaceRules: readonly Rule[] = rows.map(([group, resource, verbs]) => {
  return { group, resource, verbs }
})

/** What electing a leader needs, in the namespace of the lease alone. */
export function leaseRules(leaseName: string): readonly Rule[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases' }
  return [
    { ...lease, verbs: ['create'] },
    { ...lease, verbs: ['get', 'update'], names: [leaseName] },
  ]
}
