// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Selection } from '../kube/client.ts'
import { type KubeObject, withoutManagedFields, type Resource } from '../kube/object.ts'
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts'
import { withForeignFields } from '../resources/foreign-fields.ts'
import {
  configMaps,
  monitorKinds,
  replicaSets,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { childSelector } from '../resources/labels.ts'
import { revisionOf } from './child-stores.ts'
import type { ClusterCache } from './cluster-cache.ts'
import { outlineOf, type References } from './references.ts'

type Reflected = ReflectorOptions<KubeObject>

/** A watched kind with its store. */
type WatchedKind = Pick<Reflected, 'resource' | 'store' | 'onServed'> &
  Required<Pick<Reflected, 'selection' | 'keep'>>

export interface ReflectOptions extends Pick<
  Reflected,
  'client' | 'clock' | 'random' | 'observer'
> {
  /** Null for all namespaces. */
  readonly namespaces: readonly string[] | null
  /** Reports whether the cluster has a kind of monitor. */
  readonly onMonitorServed: (kind: Resource, isServed: boolean) => void
}

const labelled = { labelSelector: childSelector }

/** Excludes Helm releases, which can be numerous and to which nothing refers. */
const metadataOnly = { metadataOnly: true, fieldSelector: 'type!=helm.sh/release.v1' }

/** Creates the reflectors that fill a cache: one per kind, or one per kind and namespace. */
export function reflectCluster(
  cache: ClusterCache,
  references: References,
  options: ReflectOptions,
): readonly Reflector<KubeObject>[] {
  const storeOurs = (object: KubeObject): KubeObject => cache.stored(withoutManagedFields(object))
  const outlines = (resource: Resource, selection: Selection): WatchedKind => ({
    ...{ resource, selection, keep: outlineOf },
    store: references.store(resource),
  })
  const kinds: readonly WatchedKind[] = [
    { resource: rpcRouters, store: cache.routers, selection: {}, keep: storeOurs },
    { resource: upstreamProviders, store: cache.providers, selection: {}, keep: storeOurs },
    { resource: replicaSets, store: cache.replicaSets, selection: labelled, keep: revisionOf },
    ...cache.children.resources.map((resource) => ({
      ...{ resource, selection: labelled, keep: withForeignFields },
      store: cache.children.store(resource),
      ...(monitorKinds.includes(resource) && {
        onServed: (isServed: boolean) => options.onMonitorServed(resource, isServed),
      }),
    })),
    // Users' Secrets and ConfigMaps lack our labels.
    outlines(secrets, metadataOnly),
    outlines(configMaps, { metadataOnly: true }),
  ]
  const { namespaces, onMonitorServed: _, ...rest } = options
  return kinds.flatMap(({ selection, ...kind }) => {
    if (namespaces === null) return [new Reflector({ ...rest, ...kind, selection })]
    return namespaces.map((namespace) => {
      return new Reflector({ ...rest, ...kind, selection: { ...selection, namespace } })
    })
  })
}
