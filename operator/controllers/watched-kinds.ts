// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient, Selection } from '../kube/client.ts'
import type { Clock, Random } from '../kube/clock.ts'
import { type KubeObject, withoutManagedFields } from '../kube/object.ts'
import type { KubeObserver } from '../kube/observer.ts'
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts'
import type { Resource } from '../kube/resource.ts'
import {
  configMaps,
  replicaSets,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { childSelector } from '../resources/labels.ts'
import { withForeignFields } from './field-conflicts.ts'
import { outlineOf, type References } from './references.ts'
import { revisionOf } from './revisions.ts'
import type { World } from './world.ts'

/** A kind that is watched, with where it goes. */
interface WatchedKind {
  readonly resource: Resource
  readonly store: ReflectorOptions<KubeObject>['store']
  readonly selection: Selection
  readonly keep: (object: KubeObject) => KubeObject
}

export interface ReflectOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: Random
  readonly observer: KubeObserver
  /** Null for all. */
  readonly namespaces: readonly string[] | null
}

type Reflectors = readonly Reflector<KubeObject>[]

const labelled = { labelSelector: childSelector }

/** Releases of Helm are nobody's keys, and there can be many of them. */
const keysAlone = { metadataOnly: true, fieldSelector: 'type!=helm.sh/release.v1' }

/**
 * What fills a world: one reflector a kind, or one a kind and namespace.
 *
 * @param apart kinds of children that are not watched here
 */
export function reflectWorld(
  world: World,
  references: References,
  apart: readonly Resource[],
  options: ReflectOptions,
): Reflectors {
  const keepOurs = (object: KubeObject): KubeObject => world.keep(withoutManagedFields(object))
  const outlines = (resource: Resource, selection: Selection): WatchedKind => ({
    ...{ resource, selection, keep: outlineOf },
    store: references.store(resource),
  })
  const kinds: readonly WatchedKind[] = [
    { resource: rpcRouters, store: world.routers, selection: {}, keep: keepOurs },
    { resource: upstreamProviders, store: world.providers, selection: {}, keep: keepOurs },
    { resource: replicaSets, store: world.replicaSets, selection: labelled, keep: revisionOf },
    ...world.children.resources
      .filter((resource) => !apart.includes(resource))
      .map((resource) => childrenOf(world, resource)),
    // Those that users keep have no labels of ours.
    outlines(secrets, keysAlone),
    outlines(configMaps, { metadataOnly: true }),
  ]
  return reflect(kinds, options)
}

/** What fills the store of one more kind of children. */
export function reflectChildren(
  world: World,
  resource: Resource,
  options: ReflectOptions,
): Reflectors {
  return reflect([childrenOf(world, resource)], options)
}

function childrenOf(world: World, resource: Resource): WatchedKind {
  const store = world.children.store(resource)
  return { resource, store, selection: labelled, keep: withForeignFields }
}

function reflect(kinds: readonly WatchedKind[], options: ReflectOptions): Reflectors {
  const { namespaces, ...parts } = options
  return kinds.flatMap(({ selection, ...kind }) => {
    if (namespaces === null) return [new Reflector({ ...parts, ...kind, selection })]
    return namespaces.map((namespace) => {
      return new Reflector({ ...parts, ...kind, selection: { ...selection, namespace } })
    })
  })
}
