// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../../operator/kube/client.ts'
import type { KubeObject, Resource } from '../../operator/kube/object.ts'
import { eventually } from '../processes/eventually.ts'
import { kind } from './resources.ts'

const definitions = kind(
  'apiextensions.k8s.io',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false,
)

/** Creates a kind for one test, and resolves once it is served. It ends with the cluster. */
export async function createKind(
  client: KubeClient,
  unique: string,
  signal: AbortSignal,
): Promise<Resource> {
  const resource = kind(`${unique}.test.rpcrouter.dev`, 'Thing', 'things')
  await createDefinition(client, resource, signal)
  return resource
}

/** Defines a kind with arbitrary fields, and resolves once it is served. */
export async function createDefinition(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<void> {
  const { group, version, kind: name, plural } = resource
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: definitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { plural, singular: name.toLowerCase(), kind: name, listKind: `${name}List` },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
  await client.create<KubeObject>(definitions, definition, signal)
  await eventually(() => client.list(resource, {}, signal))
}

export async function deleteDefinition(
  client: KubeClient,
  { plural, group }: Resource,
  signal: AbortSignal,
): Promise<void> {
  await client.delete(definitions, { name: `${plural}.${group}` }, signal)
}
