// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { findObject, type KubeClient } from '../kube/client.ts'
import { type KubeObject, isOlder, objectKey, refOf, type Resource } from '../kube/object.ts'
import { Store } from '../kube/store.ts'
import { type ConfigMap, type Secret, configMaps, secrets } from '../resources/kinds.ts'
import { type ReferenceData, configMapData, secretData } from '../translate/reference-data.ts'

/** Reduces a watched Secret or ConfigMap to its identity and version. */
export function outlineOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }
}

/**
 * The Secrets and ConfigMaps that translations read. A cluster can have many others, so the
 * operator watches only metadata and loads data on demand. It records what each translation reads,
 * so that a change enqueues the object, and no second list of references can disagree.
 */
export class References {
  readonly stores = { secrets: new Store<KubeObject>(), configMaps: new Store<KubeObject>() }
  /** By key: the references that an object's last translation read, as `secrets ns/name`. */
  readonly readBy = {
    routers: new Map<string, ReadonlySet<string>>(),
    providers: new Map<string, ReadonlySet<string>>(),
  }
  readonly #client: Pick<KubeClient, 'get'>
  readonly #loaded = new Map<string, KubeObject>()

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client
    for (const resource of [secrets, configMaps])
      this.store(resource).subscribe(({ type, object }) => {
        if (type !== 'added')
          this.#loaded.delete(`${resource.plural} ${objectKey(object.metadata)}`)
      })
  }

  store({ plural }: Resource): Store<KubeObject> {
    return plural === secrets.plural ? this.stores.secrets : this.stores.configMaps
  }

  /** Runs the translation of an object, and repeats it after loading missing data. */
  async translate<T>(
    kind: keyof References['readBy'],
    { metadata }: RpcRouter | UpstreamProvider,
    run: (data: ReferenceData) => T,
    signal: AbortSignal,
  ): Promise<T> {
    const { namespace } = metadata
    const found = new Map<string, KubeObject | null>()
    for (let paths = this.readBy[kind].get(objectKey(metadata)) ?? new Set<string>(); ;) {
      const load = async (path: string) => found.set(path, await this.#load(path, signal))
      await Promise.all([...paths].filter((path) => !found.has(path)).map(load))
      const read = new Set<string>()
      const find = <O extends KubeObject>({ plural }: Resource<O>, name: string) => {
        const path = `${plural} ${objectKey({ namespace, name })}`
        read.add(path)
        return (found.get(path) ?? null) as O | null
      }
      const result = run({
        secret(name) {
          const object = find<Secret>(secrets, name)
          return object && secretData({ data: object.data ?? {}, uid: object.metadata.uid })
        },
        configMap(name) {
          const object = find<ConfigMap>(configMaps, name)
          return object && configMapData(object.data)
        },
      })
      // Recorded before loading, so that any later change enqueues the object.
      this.readBy[kind].set(objectKey(metadata), read)
      if ([...read].every((path) => found.has(path))) return result
      paths = read
    }
  }

  async #load(path: string, signal: AbortSignal): Promise<KubeObject | null> {
    const [plural = '', key = ''] = path.split(' ')
    const resource: Resource = plural === secrets.plural ? secrets : configMaps
    const watched = this.store(resource).get(key)?.metadata
    // The watch reports it once it exists.
    if (watched === undefined) return null
    const loaded = this.#loaded.get(path)
    const isCurrent =
      loaded?.metadata.uid === watched.uid &&
      !isOlder(loaded?.metadata.resourceVersion, watched.resourceVersion)
    if (loaded !== undefined && isCurrent) return loaded
    const found = await findObject(this.#client, resource, refOf(key), signal)
    if (found !== null) this.#loaded.set(path, found)
    return found
  }
}
