// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Secret, secrets } from '../resources/kinds.ts'
import { isPaused } from '../status/router-status.ts'
import { redisObjectName, redisPasswordKey } from '../translate/object-names.ts'
import { type ReferenceData, secretData } from '../translate/reference-data.ts'
import { chooseState } from '../translate/state-store.ts'
import { translate } from '../translate/translate.ts'
import type { Running, Translation } from '../translate/translation.ts'
import { type ChildApplier, belongsTo, findObject, isOrphanOf } from './child-applier.ts'
import { type References, referencesOf } from './references.ts'
import type { World } from './world.ts'

export interface TranslatorParts {
  readonly client: Pick<KubeClient, 'get'>
  readonly world: World
  readonly references: References
  readonly children: ChildApplier
  readonly chains: KnownChains
  readonly allowLinkLocal: boolean
  /** A new password: unpredictable, of printable characters without spaces. */
  readonly generatePassword: () => string
}

/** The translation of a router, and its inputs. */
export interface TranslatedRouter {
  readonly translation: Translation
  /** Of the Redis that the operator runs for the router; null when it runs none. */
  readonly redisPassword: string | null
  /** The providers as they were translated. */
  readonly seen: readonly KubeObject[]
}

/** Brings together what a router's config is made from, and translates it. */
export async function translateRouter(
  parts: TranslatorParts,
  router: RpcRouter,
  running: Running,
  signal: AbortSignal,
): Promise<TranslatedRouter> {
  const { world, references, chains, allowLinkLocal } = parts
  const redisPassword = await redisPasswordOf(parts, router, signal)
  // All of one moment: a change while the data is read enqueues the router again.
  const seen = world.selectedBy(router)
  const read = seen.map((object) => ({ name: object.metadata.name, ...world.provider(object) }))
  const providers = read.flatMap(({ value }) => value ?? [])
  const unreadable = read.flatMap(({ name, faults }) => (faults === null ? [] : { name, faults }))
  const names = referencesOf(router, ...providers)
  const known = await references.read(router.metadata.namespace, names, signal)
  const data = redisPassword === null ? known : withPassword(known, router, redisPassword)
  const input = { router, providers, unreadable, data, chains, running, allowLinkLocal }
  const translation = translate(input)
  return { translation, redisPassword, seen }
}

/** A password is made once, and from then on lives in its Secret alone. */
async function redisPasswordOf(
  { client, children, generatePassword }: TranslatorParts,
  router: RpcRouter,
  signal: AbortSignal,
): Promise<string | null> {
  const { store, refusals } = chooseState(router.spec)
  // Nothing runs for a router whose config will be refused.
  const isHere = store.kind === 'managed' && refusals.length === 0
  if (!isHere || isPaused(router)) return null
  const ref = { namespace: router.metadata.namespace, name: redisObjectName(router) }
  const known = children.latest<Secret>(secrets, ref)
  const secret = known ?? (await findObject(client, secrets, ref, signal))
  const isOurs = secret !== null && (belongsTo(secret, router) || isOrphanOf(secret, router))
  const password = isOurs ? secretData({ data: secret.data ?? {} }).get(redisPasswordKey) : null
  return password || generatePassword()
}

/** The Secret of the managed Redis may be younger than what the watch has brought. */
function withPassword(data: ReferenceData, router: RpcRouter, password: string): ReferenceData {
  const own = {
    uid: router.metadata.uid,
    keys: [redisPasswordKey],
    get: (key: string) => (key === redisPasswordKey ? password : null),
  }
  return {
    secret: (name) => (name === redisObjectName(router) ? own : data.secret(name)),
    configMap: (name) => data.configMap(name),
  }
}
