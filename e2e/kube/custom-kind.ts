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

/**
 * Defines a kind, and resolves once it is served.
 * @param status the schema of a subresource; without one, the kind has arbitrary fields
 */
export async function createDefinition(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
  status?: object,
): Promise<void> {
  const { group, version, kind: name, plural } = resource
  const fields = status
    ? { properties: { status } }
    : { 'x-kubernetes-preserve-unknown-fields': true }
  const openAPIV3Schema = { type: 'object', ...fields }
  const subresources = status && { status: {} }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: definitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { plural, singular: name.toLowerCase(), kind: name, listKind: `${name}List` },
      scope: 'Namespaced',
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema }, subresources },
      ],
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
