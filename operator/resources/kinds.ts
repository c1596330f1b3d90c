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
  V1StatefulSetStatus,
  V2HorizontalPodAutoscalerSpec,
} from '@kubernetes/client-node'
import { apiVersion, rpcRouterNames, upstreamProviderNames } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { KubeObject, Resource } from '../kube/object.ts'

/*
 * The kinds that the operator uses, with the parts of their types that it needs. It imports only
 * types from the library, so the library is never loaded.
 */

/** A plain object with the fields of a library class. */
export type Plain<T> = Pick<T, keyof T>

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export interface Secret extends KubeObject {
  readonly type?: string
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>
}

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean
}

interface WithSpec<S> extends KubeObject {
  readonly spec: S
}

export type Service = WithSpec<V1ServiceSpec>
export type StatefulSet = WithSpec<Plain<V1StatefulSetSpec>> & {
  readonly status?: V1StatefulSetStatus
}
export type PodDisruptionBudget = WithSpec<V1PodDisruptionBudgetSpec>
export type HorizontalPodAutoscaler = WithSpec<V2HorizontalPodAutoscalerSpec> & {
  readonly status?: RpcRouterStatus['autoscaling']
}

export interface Deployment extends WithSpec<Plain<V1DeploymentSpec>> {
  readonly status?: V1DeploymentStatus
}

export interface Pod extends KubeObject {
  readonly status?: V1PodStatus
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: V1PodTemplateSpec }
  readonly status?: { readonly replicas?: number }
}

/** The library calls it `_from`, the API `from`. */
export interface IngressRule {
  readonly from?: readonly V1NetworkPolicyPeer[]
  readonly ports: readonly V1NetworkPolicyPort[]
}

export type NetworkPolicy = WithSpec<{
  readonly podSelector: V1LabelSelector
  readonly policyTypes: readonly ('Ingress' | 'Egress')[]
  readonly ingress: readonly IngressRule[]
  readonly egress: readonly V1NetworkPolicyEgressRule[]
}>

/** A kind of the Prometheus operator. */
export type Monitor = WithSpec<Readonly<Record<string, unknown>>>

/** Creates a resource from `group/version`, kind and plural. */
function kind<T extends KubeObject>(
  type: string,
  name: string,
  plural = `${name.toLowerCase()}s`,
): Resource<T> {
  const [version = '', groupOfKind = ''] = type.split('/').toReversed()
  return { group: groupOfKind, version, kind: name, plural, namespaced: true }
}

export const rpcRouters = kind<RpcRouter>(apiVersion, rpcRouterNames.kind)
export const upstreamProviders = kind<UpstreamProvider>(apiVersion, upstreamProviderNames.kind)
export const configMaps = kind<ConfigMap>('v1', 'ConfigMap')
export const secrets = kind<Secret>('v1', 'Secret')
export const serviceAccounts = kind<ServiceAccount>('v1', 'ServiceAccount')
export const services = kind<Service>('v1', 'Service')
export const pods = kind<Pod>('v1', 'Pod')
export const deployments = kind<Deployment>('apps/v1', 'Deployment')
export const replicaSets = kind<ReplicaSet>('apps/v1', 'ReplicaSet')
export const statefulSets = kind<StatefulSet>('apps/v1', 'StatefulSet')
export const podDisruptionBudgets = kind<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget')
export const horizontalPodAutoscalers = kind<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
)
export const networkPolicies = kind<NetworkPolicy>(
  'networking.k8s.io/v1',
  'NetworkPolicy',
  'networkpolicies',
)
export const podMonitors = kind<Monitor>('monitoring.coreos.com/v1', 'PodMonitor')
export const serviceMonitors = kind<Monitor>('monitoring.coreos.com/v1', 'ServiceMonitor')

/** Kinds of objects that can belong to a router. */
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

/** Kinds of the Prometheus operator, which a cluster may lack. */
export const monitorKinds: readonly Resource[] = [podMonitors, serviceMonitors]
