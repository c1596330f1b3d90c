// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition as WholeCondition } from '../../operator/api/status.ts'
import type { KubeObject, Resource } from '../../operator/kube/object.ts'

/*
 * Kubernetes kinds that only the tests of this folder use, with the fields that they read.
 */

export type Condition = Pick<WholeCondition, 'type' | 'status'> & Partial<WholeCondition>

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers: readonly { readonly name: string; readonly image: string }[]
    readonly volumes?: readonly {
      readonly name: string
      readonly configMap?: { readonly name: string }
    }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly conditions?: readonly Condition[]
  }
}

export function kind<T extends KubeObject>(
  group: string,
  name: string,
  plural: string,
  namespaced = true,
): Resource<T> {
  return { group, version: 'v1', kind: name, plural, namespaced }
}

export const namespaces = kind('', 'Namespace', 'namespaces', false)
export const pods = kind<Pod>('', 'Pod', 'pods')
export const roles = kind('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', false)
