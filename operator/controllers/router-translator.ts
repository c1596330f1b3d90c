// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import { canShareState } from '../api/capabilities.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { Clock } from '../kube/clock.ts'
import { keyOf } from '../kube/object.ts'
import type { BuildContext } from '../resources/build-context.ts'
import { buildDeployment } from '../resources/deployment.ts'
import { deployments } from '../resources/kinds.ts'
import { isComplete, isRolledOut } from '../status/rollout.ts'
import { isPaused } from '../status/router-status.ts'
import { redisObjectName, redisPasswordKey } from '../translate/object-names.ts'
import type { ReferenceData } from '../translate/reference-data.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { chooseState } from '../translate/state-store.ts'
import { translateInSteps } from '../translate/translate.ts'
import type { Running, TranslateInput, Translation } from '../translate/translation.ts'
import type { ChildApplier } from './child-applier.ts'
import { contains } from './contains.ts'
import type { RedisPasswords } from './redis-passwords.ts'
import type { ReferenceLoader } from './reference-loader.ts'
import type { RunningFleets } from './running-fleets.ts'
import { takeTurns } from './take-turns.ts'
import type { TranslationMemo } from './translation-memo.ts'
import type { World } from './world.ts'

export interface RouterTranslatorParts {
  readonly world: World
  readonly references: ReferenceLoader
  readonly children: ChildApplier
  readonly fleets: RunningFleets
  readonly passwords: RedisPasswords
  readonly memo: TranslationMemo
  readonly chains: KnownChains
  readonly build: BuildContext
  readonly clock: Clock
}

/** Brings together what a router's config is made from, and chooses the form of it that its pods can go on with. */
export class RouterTranslator {
  readonly #parts: RouterTranslatorParts

  constructor(parts: RouterTranslatorParts) {
    this.#parts = parts
  }

  /**
   * @param running what its pods were made with
   * @returns with the password of the Redis that the operator runs for the router; null when it runs none
   */
  async translate(
    router: RpcRouter,
    running: Running,
    signal: AbortSignal,
  ): Promise<{ readonly translation: Translation; readonly redisPassword: string | null }> {
    const redisPassword = await this.#redisPassword(router, signal)
    const { world, references } = this.#parts
    const translation = await references.read(
      router.metadata.namespace,
      () => world.referencesOf(router, world.providersOf(router), running),
      () => this.#settle(router, running, redisPassword, signal),
      signal,
    )
    return { translation, redisPassword }
  }

  /** @param key of a router that is gone */
  forget(key: string): void {
    this.#parts.memo.forget(key)
  }

  /** A config with which new pods could not start is good for as long as none has to. */
  async #settle(
    router: RpcRouter,
    running: Running,
    redisPassword: string | null,
    signal: AbortSignal,
  ): Promise<Translation> {
    const { world } = this.#parts
    // What is there now, for both: while one is made, events may come.
    const seen = {
      providers: world.providersOf(router),
      unreadable: world.unreadableProvidersOf(router),
      data: world.dataOf(router.metadata.namespace),
    }
    const translate = (newPods: boolean) =>
      this.#translate(router, running, redisPassword, seen, newPods, signal)
    const kept = await translate(false)
    const goesOn = kept.startable || kept.config === null || this.#goesOn(router, kept, kept.config)
    return goesOn ? kept : translate(true)
  }

  /**
   * Whether pods can go on with a config with which no new one could start: when all that are wanted run, with all else
   * that the router asks of them. Where an endpoint would close, as many are enough as have to be there while nodes are
   * drained: below that, the other endpoints are worth more.
   */
  #goesOn(router: RpcRouter, { closing }: Translation, config: RenderedConfig): boolean {
    const { children, fleets, build } = this.#parts
    const deployment = fleets.deployment(router)
    if (deployment === null) return false
    const wanted = buildDeployment(router, config, build)
    if (!closing) return isComplete(deployment) && children.isApplied(router, deployments, wanted)
    const replacesNone = contains(deployment.spec.template, wanted.spec.template)
    return replacesNone && isRolledOut(router.spec, deployment) !== false
  }

  async #translate(
    router: RpcRouter,
    running: Running,
    redisPassword: string | null,
    { providers, unreadable = [], data }: Pick<TranslateInput, 'providers' | 'unreadable' | 'data'>,
    newPods: boolean,
    signal: AbortSignal,
  ): Promise<Translation> {
    const { world, chains, memo, clock } = this.#parts
    const known = redisPassword === null ? data : withPassword(data, router, redisPassword)
    const objects = world.fingerprint(router, providers, running)
    const basis = {
      objects: JSON.stringify([objects, unreadable, redisPassword]),
      running: JSON.stringify([running.upstreams, [...running.secretHashes]]),
    }
    return memo.of(keyOf(router.metadata), newPods, basis, () =>
      takeTurns(
        translateInSteps({ router, providers, unreadable, data: known, chains, running, newPods }),
        clock,
        signal,
      ),
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
