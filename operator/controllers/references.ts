// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { KubeClient } from '../kube/client.ts'
import { type KubeObject, type ObjectRef, isOlder, keyOf, type Resource } from '../kube/object.ts'
import { Store } from '../kube/store.ts'
import { type ConfigMap, type Secret, configMaps, secrets } from '../resources/kinds.ts'
import { type ReferenceData, configMapData, secretData } from '../translate/reference-data.ts'
import { readSpecSources } from '../translate/spec-sources.ts'
import { storeSections } from '../translate/state-store.ts'
import { upstreamEntry } from '../translate/upstreams.ts'
import { ValueCollector } from '../translate/value-collector.ts'
import { findObject } from './child-applier.ts'

/** What is kept of a Secret or a ConfigMap that the watch brings: that it exists, and in which version. */
export function outlineOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }
}

/**
 * Secrets and ConfigMaps that routers and providers refer to. A cluster can have many others, and large ones. So
 * only the metadata of all is watched, and only the data of those that are referred to is read.
 */
export class References {
  readonly stores = { secrets: new Store<KubeObject>(), configMaps: new Store<KubeObject>() }
  readonly #client: Pick<KubeClient, 'get'>
  readonly #loaded = new Map<string, KubeObject>()

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client
    for (const resource of [secrets, configMaps])
      this.store(resource).subscribe(({ type, object }) => {
        if (type !== 'added') this.#loaded.delete(`${resource.plural} ${keyOf(object.metadata)}`)
      })
  }

  store({ plural }: Resource): Store<KubeObject> {
    return plural === secrets.plural ? this.stores.secrets : this.stores.configMaps
  }

  /** The data of those names that exist, as it is now. */
  async read(
    namespace: string,
    names: ReferenceNames,
    signal: AbortSignal,
  ): Promise<ReferenceData> {
    const load = async <T extends KubeObject>(resource: Resource<T>, all: readonly string[]) => {
      const found = all.map(async (name) => {
        return [name, await this.#load(resource, { namespace, name }, signal)] as const
      })
      return new Map(await Promise.all(found))
    }
    const [secretsByName, configMapsByName] = await Promise.all([
      load<Secret>(secrets, names.secrets),
      load<ConfigMap>(configMaps, names.configMaps),
    ])
    return {
      secret: (name) => {
        const found = secretsByName.get(name) ?? null
        return found && secretData({ data: found.data ?? {}, uid: found.metadata.uid })
      },
      configMap: (name) => {
        const found = configMapsByName.get(name) ?? null
        return found && configMapData(found.data)
      },
    }
  }

  async #load<T extends KubeObject>(
    resource: Resource<T>,
    ref: Required<Pick<ObjectRef, 'name' | 'namespace'>>,
    signal: AbortSignal,
  ): Promise<T | null> {
    const key = keyOf(ref)
    const path = `${resource.plural} ${key}`
    const watched = this.store(resource).get(key)?.metadata
    // The watch reports it when it comes.
    if (watched === undefined) return null
    const loaded = this.#loaded.get(path) as T | undefined
    const isCurrent =
      loaded?.metadata.uid === watched.uid &&
      !isOlder(loaded?.metadata.resourceVersion, watched.resourceVersion)
    if (loaded !== undefined && isCurrent) return loaded
    const found = await findObject(this.#client, resource, ref, signal)
    if (found !== null) this.#loaded.set(path, found)
    return found
  }
}

/** Names of the Secrets and ConfigMaps that objects refer to. */
export type ReferenceNames = Readonly<Record<keyof References['stores'], readonly string[]>>

/**
 * What routers and providers refer to, a Redis that the operator runs for a router apart: the names that are asked for
 * while their parts of the config are written.
 */
export function referencesOf(
  ...objects: readonly (RpcRouter | UpstreamProvider)[]
): ReferenceNames {
  const [ofSecrets, ofConfigMaps] = [new Set<string>(), new Set<string>()]
  const noting = (names: Set<string>) => (name: string) => {
    names.add(name)
    return null
  }
  const data = { secret: noting(ofSecrets), configMap: noting(ofConfigMaps) }
  for (const object of objects) {
    const collector = new ValueCollector(data)
    if (object.kind === 'RpcRouter') {
      storeSections(object, collector)
      readSpecSources(object.spec.specSources, collector)
    } else upstreamEntry(object, object.spec.chainId, collector)
  }
  return { secrets: [...ofSecrets].toSorted(), configMaps: [...ofConfigMaps].toSorted() }
}
