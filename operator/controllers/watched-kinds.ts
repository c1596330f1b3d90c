// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient, Selection } from '../kube/client.ts'
import type { Clock, Random } from '../kube/clock.ts'
import { keyOf, type KubeObject, withoutManagedFields } from '../kube/object.ts'
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
import { keepReference } from './reference-loader.ts'
import { revisionOf } from './revisions.ts'
import type { World } from './world.ts'

type Reflected = ReflectorOptions<KubeObject>['store']

/** A kind that is watched, with where it goes. */
interface WatchedKind {
  readonly resource: Resource
  readonly store: Reflected
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

const labelled = { labelSelector: childSelector }

/** Releases of Helm are nobody's keys: there can be many of them, and large ones. */
const secretFields = 'type!=helm.sh/release.v1'

type Reflectors = readonly Reflector<KubeObject>[]

/**
 * What fills a world: one reflector a kind, or one a kind and namespace. Those of `asked` go first: what else is kept
 * depends on what routers and providers refer to.
 *
 * @param apart kinds of children that are not watched here
 */
export function reflectWorld(
  world: World,
  apart: readonly Resource[],
  options: ReflectOptions,
): { readonly asked: Reflectors; readonly others: Reflectors } {
  const [asked, others] = watchedKinds(world, apart)
  return { asked: reflect(asked, options), others: reflect(others, options) }
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
  return kinds.flatMap(({ resource, store, selection, keep }) => {
    if (namespaces === null) return [new Reflector({ ...parts, resource, store, selection, keep })]
    return namespaces.map((namespace) => {
      const part = { ...selection, namespace }
      return new Reflector({ ...parts, resource, store, selection: part, keep })
    })
  })
}

function watchedKinds(
  world: World,
  apart: readonly Resource[],
): readonly [asked: readonly WatchedKind[], others: readonly WatchedKind[]] {
  const keepReferenced = (kind: 'secret' | 'configMap') => (object: KubeObject) => {
    const isReferredTo = world.isReferredTo(kind, keyOf(object.metadata))
    return keepReference(withoutManagedFields(object), isReferredTo)
  }
  const keepOurs = (object: KubeObject): KubeObject => world.keep(withoutManagedFields(object))
  const asked = [
    { resource: rpcRouters, store: world.routers, selection: {}, keep: keepOurs },
    { resource: upstreamProviders, store: world.providers, selection: {}, keep: keepOurs },
  ]
  const others = [
    {
      resource: replicaSets,
      store: world.replicaSets,
      selection: labelled,
      keep: revisionOf,
    },
    ...world.children.resources
      .filter((resource) => !apart.includes(resource))
      .map((resource) => ({
        ...childrenOf(world, resource),
        // Users' own Secrets and ConfigMaps are referred to, and have no labels of ours.
        ...(resource.plural === secrets.plural && {
          selection: { fieldSelector: secretFields },
          keep: keepReferenced('secret'),
        }),
        ...(resource.plural === configMaps.plural && {
          selection: {},
          keep: keepReferenced('configMap'),
        }),
      })),
  ]
  return [asked, others]
}
