// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject } from '../kube/object.ts'
import { type Deployment, deployments } from './kinds.ts'

/** Names of the Secrets that the pods of a Deployment get; none for objects of other kinds. */
export function podSecretsOf(object: KubeObject): readonly string[] {
  if (object.kind !== deployments.kind) return []
  const { containers, volumes = [] } = (object as Deployment).spec.template.spec ?? {}
  const env = (containers ?? []).flatMap((container) => container.env ?? [])
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const names = [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...sources.map(({ secret }) => secret?.name),
  ]
  return [...new Set(names.filter((name) => name !== undefined))]
}
