// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { type ChildApplier, belongsTo, isOrphanOf } from '../apply/child-applier.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { References } from '../cache/references.ts'
import { findObject, type KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Secret, secrets } from '../resources/kinds.ts'
import { isPaused } from '../status/router-status.ts'
import { objectName, redisPasswordKey } from '../translate/object-names.ts'
import { type ReferenceData, secretData } from '../translate/reference-data.ts'
import { type OwnRedis, ownRedisOf } from '../translate/state-store.ts'
import type { TranslateInput } from '../translate/translate-input.ts'
import { translate } from '../translate/translate.ts'
import type { Translation } from '../translate/translation.ts'

export interface TranslatorOptions {
  readonly client: Pick<KubeClient, 'get'>
  readonly cache: ClusterCache
  readonly references: References
  readonly children: ChildApplier
  readonly bundled: TranslateInput['bundled']
  readonly allowLinkLocal: boolean
  /** Image of pods whose spec names none. */
  readonly image: string
  /** Deterministic, so that retries do not change the template; unpredictable and printable. */
  readonly generatePassword: (of: string) => string
}

type OwnRedisWithPassword = OwnRedis & { readonly password: string }

/** The translation of a router with its inputs. */
export interface TranslatedRouter {
  readonly translation: Translation
  /** Redis instances that the operator runs for the router. */
  readonly redis: readonly OwnRedisWithPassword[]
  /** The translated providers. */
  readonly selected: readonly KubeObject[]
}

/** Gathers the inputs of a router's config and translates them. */
export async function translateRouter(
  options: TranslatorOptions,
  router: RpcRouter,
  openPorts: readonly number[],
  signal: AbortSignal,
): Promise<TranslatedRouter> {
  const { cache, references, bundled, allowLinkLocal, image } = options
  const redis = await withPasswords(options, router, signal)
  // A consistent snapshot. A change while data is loading enqueues the router again.
  const selected = cache.selectedBy(router)
  const read = selected.map((object) => ({ name: object.metadata.name, ...cache.provider(object) }))
  const providers = read.flatMap(({ value }) => value ?? [])
  const unreadable = read.flatMap(({ name, faults }) => (faults === null ? [] : { name, faults }))
  const input = { router, providers, unreadable, bundled, openPorts, allowLinkLocal, image }
  const run = (data: ReferenceData) =>
    translate({ ...input, data: withSecretsOf(redis, data, router) })
  const translation = await references.translate('routers', router, run, signal)
  return { translation, redis, selected }
}

/** Reads the password of each managed Redis from its Secret, or generates the first one. */
async function withPasswords(
  { client, children, generatePassword }: TranslatorOptions,
  router: RpcRouter,
  signal: AbortSignal,
): Promise<readonly OwnRedisWithPassword[]> {
  if (isPaused(router)) return []
  const found = ownRedisOf(router.spec).map(async (redis) => {
    const ref = { namespace: router.metadata.namespace, name: objectName(router, redis.component) }
    const known = children.latest<Secret>(secrets, ref)
    const secret = known ?? (await findObject(client, secrets, ref, signal))
    const isOurs = secret !== null && (belongsTo(secret, router) || isOrphanOf(secret, router))
    const password = isOurs ? secretData({ data: secret.data ?? {} }).get(redisPasswordKey) : null
    return {
      ...redis,
      password: password || generatePassword(`${router.metadata.uid}/${ref.name}`),
    }
  })
  return Promise.all(found)
}

/** Overlays the Secrets of managed Redis, because the watch may not have delivered them yet. */
function withSecretsOf(
  all: readonly OwnRedisWithPassword[],
  data: ReferenceData,
  router: RpcRouter,
): ReferenceData {
  const { uid } = router.metadata
  return {
    secret(name) {
      const own = all.find(({ component }) => objectName(router, component) === name)
      if (own === undefined) return data.secret(name)
      const get = (key: string) => (key === redisPasswordKey ? own.password : null)
      return { uid, keys: [redisPasswordKey], get }
    },
    configMap: (name) => data.configMap(name),
  }
}
