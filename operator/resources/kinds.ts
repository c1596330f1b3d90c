// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1DeploymentSpec,
  V1DeploymentStatus,
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
  V1LabelSelector,
  V1PodStatus,
  V1PodDisruptionBudgetSpec,
  V1PodTemplateSpec,
  V1ServiceSpec,
  V1StatefulSetSpec,
  V2HorizontalPodAutoscalerSpec,
} from '@kubernetes/client-node'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { group, rpcRouterNames, upstreamProviderNames, version } from '../api/group.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Resource } from '../kube/resource.ts'

/*
 * The kinds that the operator deals with, with as much of their types as it looks at. Of the
 * library only types are used: nothing of it is loaded.
 */

/** A type of the library as what it is on the wire: no class. */
export type Plain<T> = Pick<T, keyof T>

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface Secret extends KubeObject {
  readonly type?: string
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>
}

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean
}

export interface Service extends KubeObject {
  readonly spec: V1ServiceSpec
}

export interface Deployment extends KubeObject {
  readonly spec: Plain<V1DeploymentSpec>
  readonly status?: V1DeploymentStatus
}

export interface Pod extends KubeObject {
  readonly status?: V1PodStatus
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: V1PodTemplateSpec }
  readonly status?: { readonly replicas?: number }
}

export interface StatefulSet extends KubeObject {
  readonly spec: V1StatefulSetSpec
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: V1PodDisruptionBudgetSpec
}

export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec: V2HorizontalPodAutoscalerSpec
}

/** The library writes `_from`, the API takes `from`. */
export interface IngressRule {
  readonly from?: readonly V1NetworkPolicyPeer[]
  readonly ports: readonly V1NetworkPolicyPort[]
}

export interface NetworkPolicy extends KubeObject {
  readonly spec: {
    readonly podSelector: V1LabelSelector
    readonly policyTypes: readonly ('Ingress' | 'Egress')[]
    readonly ingress: readonly IngressRule[]
    readonly egress: readonly V1NetworkPolicyEgressRule[]
  }
}

/** A kind of the Prometheus operator. */
export interface Monitor extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
}

function kind<T extends KubeObject>(
  group: string,
  version: string,
  name: string,
  plural: string,
): Resource<T> {
  return { group, version, kind: name, plural, namespaced: true }
}

export const rpcRouters = kind<RpcRouter>(
  group,
  version,
  rpcRouterNames.kind,
  rpcRouterNames.plural,
)
export const upstreamProviders = kind<UpstreamProvider>(
  group,
  version,
  upstreamProviderNames.kind,
  upstreamProviderNames.plural,
)
export const configMaps = kind<ConfigMap>('', 'v1', 'ConfigMap', 'configmaps')
export const secrets = kind<Secret>('', 'v1', 'Secret', 'secrets')
export const serviceAccounts = kind<ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts')
export const services = kind<Service>('', 'v1', 'Service', 'services')
export const deployments = kind<Deployment>('apps', 'v1', 'Deployment', 'deployments')
export const pods = kind<Pod>('', 'v1', 'Pod', 'pods')
export const replicaSets = kind<ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets')
export const statefulSets = kind<StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets')
export const podDisruptionBudgets = kind<PodDisruptionBudget>(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export const horizontalPodAutoscalers = kind<HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export const networkPolicies = kind<NetworkPolicy>(
  'networking.k8s.io',
  'v1',
  'NetworkPolicy',
  'networkpolicies',
)
export const podMonitors = kind<Monitor>('monitoring.coreos.com', 'v1', 'PodMonitor', 'podmonitors')
export const serviceMonitors = kind<Monitor>(
  'monitoring.coreos.com',
  'v1',
  'ServiceMonitor',
  'servicemonitors',
)

/** What can belong to a router. */
export const childKinds = [
  configMaps,
  secrets,
  serviceAccounts,
  networkPolicies,
  statefulSets,
  horizontalPodAutoscalers,
  deployments,
  services,
  podDisruptionBudgets,
  podMonitors,
  serviceMonitors,
] as const satisfies readonly Resource[]

/** The kinds of the Prometheus operator, which a cluster may not have. */
export const monitorKinds: readonly Resource[] = [podMonitors, serviceMonitors]
