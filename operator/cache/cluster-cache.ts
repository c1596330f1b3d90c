// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { rpcRouterNames } from '../api/group.ts'
import { type LabelSelector, selects } from '../api/labels.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import { type KubeObject, objectKey, type Resource } from '../kube/object.ts'
import { Store } from '../kube/store.ts'
import { instanceKeys } from '../resources/labels.ts'
import { ChildStores, type Revision } from './child-stores.ts'

/** The controllers' view of the cluster. Reflectors write it, and controllers read it. */
export class ClusterCache {
  readonly routers = new Store<KubeObject, 'selector'>({
    selector: (object) => this.#selectorKeys(object),
  })
  readonly providers = new Store<KubeObject, 'label'>({ label: labelKeys })
  readonly replicaSets = new Store<Revision, 'instance'>({ instance: instanceKeys })
  readonly children: ChildStores
  readonly #routerReader = new TypedReader<RpcRouter>(rpcRouterSchema)
  readonly #providerReader = new TypedReader<UpstreamProvider>(upstreamProviderSchema)

  constructor(childKinds: readonly Resource[]) {
    this.children = new ChildStores(childKinds)
  }

  /** Converts a router or a provider to its stored form. */
  stored(object: KubeObject): KubeObject {
    const isRouter = object.kind === rpcRouterNames.kind
    return (isRouter ? this.#routerReader : this.#providerReader).stored(object)
  }

  router(object: KubeObject) {
    return this.#routerReader.read(object)
  }

  provider(object: KubeObject) {
    return this.#providerReader.read(object)
  }

  /** Returns the providers that a router selects, in no particular order. */
  selectedBy({ metadata, spec }: RpcRouter): readonly KubeObject[] {
    const [key] = selectorKeys(metadata.namespace, spec.providerSelector)
    if (key === undefined) return []
    return this.providers
      .byIndex('label', key)
      .filter((provider) => selects(spec.providerSelector, provider.metadata.labels))
  }

  /** Returns the keys of the providers that a router selects. */
  providerKeysOf(router: KubeObject): readonly string[] {
    const { value } = this.router(router)
    return value === null ? [] : this.selectedBy(value).map(({ metadata }) => objectKey(metadata))
  }

  /** Returns the keys of the routers that select a provider. */
  routersOf({ metadata }: KubeObject): readonly string[] {
    const keys = labelKeys({ metadata })
    return [...new Set(keys.flatMap((key) => this.routers.byIndex('selector', key)))]
      .filter((router) => {
        const { value } = this.router(router)
        return value !== null && selects(value.spec.providerSelector, metadata.labels)
      })
      .map((router) => objectKey(router.metadata))
  }

  /** Returns the keys of the routers that want a kind of monitor. */
  routersWithMonitor(kind: string): readonly string[] {
    return this.routers
      .list()
      .filter((router) => this.router(router).value?.spec.monitoring.type === kind)
      .map(({ metadata }) => objectKey(metadata))
  }

  /** Whether a router is being deleted. */
  isLeaving(router: string): boolean {
    return this.routers.get(router)?.metadata.deletionTimestamp !== undefined
  }

  #selectorKeys(object: KubeObject): readonly string[] {
    const { value } = this.router(object)
    if (value === null) return []
    return selectorKeys(value.metadata.namespace, value.spec.providerSelector)
  }
}

/** Returns the index key of a selector: one required label, or the whole namespace. */
function selectorKeys(namespace: string, selector: LabelSelector | undefined): readonly string[] {
  if (selector === undefined) return []
  const [label] = Object.entries(selector.matchLabels ?? {})
  return [label === undefined ? `${namespace}/` : `${namespace}/${label[0]}=${label[1]}`]
}

function labelKeys({ metadata }: Pick<KubeObject, 'metadata'>): readonly string[] {
  const { namespace, labels = {} } = metadata
  return [
    `${namespace}/`,
    ...Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`),
  ]
}

/** A parsed object, or why it does not match the schema; it may be older than the schema. */
export type Typed<T> =
  { readonly value: T; readonly faults: null } | { readonly value: null; readonly faults: string }

/** Parses each object once, with a schema. */
class TypedReader<T extends KubeObject> {
  readonly #schema: z.ZodType<T>
  readonly #read = new WeakMap<KubeObject, Typed<T>>()

  constructor(schema: z.ZodType<T>) {
    this.#schema = schema
  }

  read(object: KubeObject): Typed<T> {
    const known = this.#read.get(object)
    if (known !== undefined) return known
    const parsed = this.#schema.safeParse(object)
    const typed: Typed<T> = parsed.success
      ? { value: parsed.data, faults: null }
      : {
          value: null,
          faults: parsed.error.issues
            .map(({ path, message }) => `${path.join('.')}: ${message}`)
            .join('; '),
        }
    this.#read.set(typed.value ?? object, typed)
    return typed
  }

  /** Returns the parsed object, so that only one copy exists, or an invalid object unchanged. */
  stored(object: KubeObject): KubeObject {
    return this.read(object).value ?? object
  }
}
