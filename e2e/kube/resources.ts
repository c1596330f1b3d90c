// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject } from '../../operator/kube/object.ts'
import type { Resource } from '../../operator/kube/resource.ts'

/*
 * Kinds of Kubernetes that the tests of this folder use, with as much of their types as they look at.
 */

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string }
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers: readonly { readonly name: string; readonly image: string }[]
  }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

export interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[]
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly updatedReplicas?: number
  }
}

function kind<T extends KubeObject>(
  group: string,
  name: string,
  plural: string,
  namespaced = true,
): Resource<T> {
  return { group, version: 'v1', kind: name, plural, namespaced }
}

export const namespaces = kind<Namespace>('', 'Namespace', 'namespaces', false)
export const configMaps = kind<ConfigMap>('', 'ConfigMap', 'configmaps')
export const pods = kind<Pod>('', 'Pod', 'pods')
export const serviceAccounts = kind('', 'ServiceAccount', 'serviceaccounts')
export const deployments = kind<Deployment>('apps', 'Deployment', 'deployments')
export const roles = kind('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', false)
