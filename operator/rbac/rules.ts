// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group, rpcRouterNames, upstreamProviderNames } from '../api/group.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Verb } from '../kube/observer.ts'

/** The operator's permissions on one kind. */
export interface Rule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly Verb[]
  /** Object names to which the rule is limited; impossible for create. */
  readonly names?: readonly string[]
}

const follow: readonly Verb[] = ['list', 'watch']
const read: readonly Verb[] = ['get', 'list', 'watch']
const own: readonly Verb[] = ['get', 'list', 'watch', 'create', 'patch', 'delete']
const routers = rpcRouterNames.plural
const providers = upstreamProviderNames.plural
const prometheus = 'monitoring.coreos.com'

const rows: readonly (readonly [group: string, resource: string, verbs: readonly Verb[]])[] = [
  [group, routers, follow],
  [group, providers, follow],
  [group, `${routers}/status`, ['patch']],
  [group, `${providers}/status`, ['patch']],
  // Allows owner references, so that objects are deleted with their router.
  [group, `${routers}/finalizers`, ['update']],
  // For configs of routers, and users' CA certificates and chain specs.
  ['', 'configmaps', own],
  // For the existence and changes of keys, and the password of a managed Redis.
  ['', 'secrets', own],
  ['', 'serviceaccounts', own],
  ['', 'services', own],
  ['apps', 'deployments', own],
  ['apps', 'statefulsets', own],
  // To find configs that are still in use.
  ['apps', 'replicasets', follow],
  // To find causes of stalled rollouts, and addresses of pods to observe.
  ['', 'pods', follow],
  ['policy', 'poddisruptionbudgets', own],
  ['autoscaling', 'horizontalpodautoscalers', own],
  ['networking.k8s.io', 'networkpolicies', own],
  [prometheus, 'podmonitors', own],
  [prometheus, 'servicemonitors', own],
  ['events.k8s.io', 'events', ['create', 'patch']],
]

/** Permissions in router namespaces. The tests grant the operator exactly these. */
export const namespaceRules: readonly Rule[] = rows.map(([group, resource, verbs]) => {
  return { group, resource, verbs }
})

/** Permissions for leader election, only in the lease's namespace. */
function leaseRules(leaseName: string): readonly Rule[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases' }
  return [
    { ...lease, verbs: ['create'] },
    { ...lease, verbs: ['get', 'update'], names: [leaseName] },
  ]
}

const apiGroup = 'rbac.authorization.k8s.io'
const labels = { 'app.kubernetes.io/part-of': 'rpc-router' }

export interface RbacOptions {
  /** Namespaces that the operator watches; null for all. */
  readonly namespaces: readonly string[] | null
  readonly serviceAccount: { readonly namespace: string; readonly name: string }
  readonly lease: { readonly namespace: string; readonly name: string }
  /** Whether to manage Redis, which takes writing Secrets and StatefulSets. Default: true. */
  readonly managedRedis?: boolean
  /** Whether to manage PodMonitors and ServiceMonitors. Default: true. */
  readonly monitors?: boolean
}

interface RbacObject extends KubeObject {
  readonly rules?: readonly object[]
  readonly roleRef?: object
  readonly subjects?: readonly object[]
}

/** Returns the operator's roles and bindings: a Role per namespace, or one ClusterRole. */
export function rbacManifests({
  namespaces,
  serviceAccount,
  lease,
  managedRedis = true,
  monitors = true,
}: RbacOptions): readonly RbacObject[] {
  const { name } = serviceAccount
  const rules = namespaceRules.flatMap((rule) => {
    if (!monitors && rule.group === prometheus) return []
    const isOfRedis = rule.resource === 'secrets' || rule.resource === 'statefulsets'
    return managedRedis || !isOfRedis ? rule : { ...rule, verbs: read }
  })
  const subjects = [{ kind: 'ServiceAccount', ...serviceAccount }]
  const ofRouters =
    namespaces === null
      ? roleWithBinding('ClusterRole', { name }, rules, subjects)
      : namespaces.flatMap((namespace) =>
          roleWithBinding('Role', { name, namespace }, rules, subjects),
        )
  const ofLease = lease.name === name ? '' : `.${lease.name}`
  const leaseRole = { name: `${name}-lease${ofLease}`, namespace: lease.namespace }
  return [...ofRouters, ...roleWithBinding('Role', leaseRole, leaseRules(lease.name), subjects)]
}

function roleWithBinding(
  kind: 'Role' | 'ClusterRole',
  names: { readonly name: string; readonly namespace?: string },
  rules: readonly Rule[],
  subjects: readonly object[],
): readonly RbacObject[] {
  const metadata = { ...names, labels }
  const apiVersion = `${apiGroup}/v1`
  return [
    { apiVersion, kind, metadata, rules: rules.map(policyRule) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup, kind, name: names.name },
      subjects,
    },
  ]
}

function policyRule({ group, resource, verbs, names }: Rule): object {
  return {
    apiGroups: [group],
    resources: [resource],
    verbs: [...verbs],
    ...(names && { resourceNames: [...names] }),
  }
}

/**
 * Returns the service account for the roles. It adds namespaces only for cluster-wide roles,
 * because users with permissions only in existing namespaces cannot create any.
 */
export function accountManifests({
  namespaces,
  serviceAccount,
  lease,
}: RbacOptions): readonly KubeObject[] {
  const needed = namespaces === null ? new Set([serviceAccount.namespace, lease.namespace]) : []
  return [
    ...[...needed].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    })),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...serviceAccount, labels } },
  ]
}

const kinds = [rpcRouterNames.plural, upstreamProviderNames.plural]
const write = ['create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * Roles that extend the cluster roles `view`, `edit` and `admin` to routers and providers. Only the
 * operator may write the status.
 */
export const userRoles: readonly KubeObject[] = [
  userRole('view', ['view', 'edit', 'admin'], [{ resources: kinds, verbs: read }]),
  userRole(
    'edit',
    ['edit', 'admin'],
    [
      { resources: kinds, verbs: write },
      { resources: [`${rpcRouterNames.plural}/scale`], verbs: ['get', 'update', 'patch'] },
    ],
  ),
]

function userRole(name: string, aggregatedTo: readonly string[], rules: readonly object[]) {
  const aggregation = aggregatedTo.map((role) => [`${apiGroup}/aggregate-to-${role}`, 'true'])
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRole',
    metadata: {
      name: `rpc-router-${name}`,
      labels: { ...labels, ...(Object.fromEntries(aggregation) as Record<string, string>) },
    },
    rules: rules.map((rule) => ({ apiGroups: [group], ...rule })),
  }
}
