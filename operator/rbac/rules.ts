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
  /** Why it is needed. */
  readonly why: string
}

const read: readonly Verb[] = ['get', 'list', 'watch']
const own: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete']
/** Of what only a managed Redis has: nothing is written before a router can use one. */
const ofRedis = canShareState ? own : read

/** Everything that the operator does in the namespaces of routers. The tests run it under exactly these rules. */
export const namespaceRules: readonly Rule[] = [
  { group, resource: rpcRouterNames.plural, verbs: ['list', 'watch'], why: 'what is asked for' },
  {
    group,
    resource: upstreamProviderNames.plural,
    verbs: ['list', 'watch'],
    why: 'what is asked for',
  },
  {
    group,
    resource: `${rpcRouterNames.plural}/status`,
    verbs: ['patch'],
    why: 'to say what was found',
  },
  {
    group,
    resource: `${upstreamProviderNames.plural}/status`,
    verbs: ['patch'],
    why: 'to say what was found',
  },
  {
    group,
    resource: `${rpcRouterNames.plural}/finalizers`,
    verbs: ['update'],
    why: 'to own objects so that they go with their router',
  },
  {
    group: '',
    resource: 'configmaps',
    verbs: own,
    why: 'configs of routers; CA certificates and chain specs that users keep there',
  },
  {
    group: '',
    resource: 'secrets',
    verbs: ofRedis,
    why: canShareState
      ? 'to see whether keys exist and when they change; the password of a managed Redis'
      : 'to see whether keys exist and when they change',
  },
  { group: '', resource: 'serviceaccounts', verbs: own, why: 'the identity of the pods' },
  { group: '', resource: 'services', verbs: own, why: 'the way to the pods' },
  { group: 'apps', resource: 'deployments', verbs: own, why: 'the pods' },
  { group: 'apps', resource: 'statefulsets', verbs: ofRedis, why: 'a managed Redis' },
  {
    group: 'apps',
    resource: 'replicasets',
    verbs: read.slice(1),
    why: 'which configs are still in use',
  },
  { group: '', resource: 'pods', verbs: ['list'], why: 'why a rollout does not go on' },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: own, why: 'drains of nodes' },
  { group: 'autoscaling', resource: 'horizontalpodautoscalers', verbs: own, why: 'autoscaling' },
  {
    group: 'networking.k8s.io',
    resource: 'networkpolicies',
    verbs: own,
    why: 'who may talk to whom',
  },
  { group: 'monitoring.coreos.com', resource: 'podmonitors', verbs: own, why: 'metrics' },
  { group: 'monitoring.coreos.com', resource: 'servicemonitors', verbs: own, why: 'metrics' },
  {
    group: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    why: 'to tell what happened',
  },
]

/** What electing a leader needs, in the namespace of the lease alone. */
export function leaseRules(leaseName: string): readonly Rule[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases' }
  return [
    { ...lease, verbs: ['create'], why: 'the first operator of all' },
    { ...lease, verbs: ['get', 'update'], names: [leaseName], why: 'which replica acts' },
  ]
}
