// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group, rpcRouterNames, upstreamProviderNames } from '../api/group.ts'
import type { KubeObject } from '../kube/object.ts'

const kinds = [rpcRouterNames.plural, upstreamProviderNames.plural]
const read = ['get', 'list', 'watch']
const write = ['create', 'update', 'patch', 'delete', 'deletecollection']

interface UserRole extends KubeObject {
  readonly rules: readonly object[]
}

/**
 * What people may do: who has one of the cluster's own roles `view`, `edit` and `admin` in a namespace
 * may do the like with routers and providers there. The status stays the operator's.
 */
export const userRoles: readonly UserRole[] = [
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

function userRole(
  name: string,
  aggregatedTo: readonly string[],
  rules: readonly object[],
): UserRole {
  const aggregation = aggregatedTo.map((role) => [
    `rbac.authorization.k8s.io/aggregate-to-${role}`,
    'true',
  ])
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `rpc-router-${name}`,
      labels: {
        'app.kubernetes.io/part-of': 'rpc-router',
        ...(Object.fromEntries(aggregation) as Readonly<Record<string, string>>),
      },
    },
    rules: rules.map((rule) => ({ apiGroups: [group], ...rule })),
  }
}
