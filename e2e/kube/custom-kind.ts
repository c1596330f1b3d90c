// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../../operator/kube/client.ts'
import type { KubeObject } from '../../operator/kube/object.ts'
import type { Resource } from '../../operator/kube/resource.ts'
import { eventually } from './eventually.ts'

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

/** Creates a kind of its own for one test; resolves when it is served. Goes with the cluster. */
export async function createKind(
  client: KubeClient,
  unique: string,
  signal: AbortSignal,
): Promise<Resource> {
  const group = `${unique}.test.rpcrouter.dev`
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: definitions.kind,
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  await client.create<KubeObject>(definitions, definition, signal)
  const resource: Resource = {
    group,
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    namespaced: true,
  }
  await eventually(() => client.serves(resource, signal))
  await eventually(() => client.list(resource, {}, signal))
  return resource
}
