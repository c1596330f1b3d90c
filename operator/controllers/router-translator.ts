// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import { canShareState } from '../api/capabilities.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { keyOf } from '../kube/object.ts'
import { isPaused } from '../status/router-status.ts'
import { redisObjectName, redisPasswordKey } from '../translate/object-names.ts'
import type { ReferenceData } from '../translate/reference-data.ts'
import { chooseState } from '../translate/state-store.ts'
import { translate } from '../translate/translate.ts'
import type { Running, Translation } from '../translate/translation.ts'
import type { RedisPasswords } from './redis-passwords.ts'
import type { ReferenceLoader } from './reference-loader.ts'
import type { TranslationMemo } from './translation-memo.ts'
import type { World } from './world.ts'

export interface RouterTranslatorParts {
  readonly world: World
  readonly references: ReferenceLoader
  readonly passwords: RedisPasswords
  readonly memo: TranslationMemo
  readonly chains: KnownChains
}

/** Brings together what a router's config is made from. */
export class RouterTranslator {
  readonly #parts: RouterTranslatorParts

  constructor(parts: RouterTranslatorParts) {
    this.#parts = parts
  }

  /** @returns with the password of the Redis that the operator runs for the router; null when it runs none */
  async translate(
    router: RpcRouter,
    running: Running,
    signal: AbortSignal,
  ): Promise<{ readonly translation: Translation; readonly redisPassword: string | null }> {
    const redisPassword = await this.#redisPassword(router, signal)
    const { world, references } = this.#parts
    const translation = await references.read(
      router.metadata.namespace,
      () => world.referencesOf(router, world.providersOf(router)),
      () => this.#translate(router, running, redisPassword),
      signal,
    )
    return { translation, redisPassword }
  }

  /** @param key of a router that is gone */
  forget(key: string): void {
    this.#parts.memo.forget(key)
  }

  #translate(router: RpcRouter, running: Running, redisPassword: string | null): Translation {
    const { world, chains, memo } = this.#parts
    const providers = world.providersOf(router)
    const unreadable = world.unreadableProvidersOf(router)
    const known = world.dataOf(router.metadata.namespace)
    const data = redisPassword === null ? known : withPassword(known, router, redisPassword)
    const objects = world.fingerprint(router, providers)
    const basis = JSON.stringify([objects, unreadable, redisPassword, running])
    return memo.of(keyOf(router.metadata), basis, () =>
      translate({ router, providers, unreadable, data, chains, running }),
    )
  }

  /** Of the Redis that the operator runs for the router; null when it runs none. */
  async #redisPassword(router: RpcRouter, signal: AbortSignal): Promise<string | null> {
    const { store, refusals } = chooseState(router.spec)
    // Nothing runs for a router whose config will be refused.
    const isHere = store.kind === 'managed' && refusals.length === 0 && canShareState
    return isHere && !isPaused(router) ? this.#parts.passwords.of(router, signal) : null
  }
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
