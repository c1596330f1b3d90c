// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import { unsupportedName } from '../../proxy/config/capabilities.ts'
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { ApiError } from '../kube/errors.ts'
import type { Outcome, ReconcileContext } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import { buildFleet, buildRedis } from '../resources/build-children.ts'
import type { BuildContext } from '../resources/build-context.ts'
import { configMapName } from '../resources/config-map.ts'
import { buildDeployment } from '../resources/deployment.ts'
import { type ConfigMap, configMaps, type Deployment, deployments } from '../resources/kinds.ts'
import type { PodPorts } from '../resources/pod-ports.ts'
import { invalidRouterStatus } from '../status/invalid-status.ts'
import { isOtherTemplate, routerOccurrences, templateOccurrences } from '../status/occurrences.ts'
import { isComplete, isRolledOut } from '../status/rollout.ts'
import { isPaused, routerStatus } from '../status/router-status.ts'
import { routerObjectName, redisObjectName, redisPasswordKey } from '../translate/object-names.ts'
import type { ReferenceData } from '../translate/reference-data.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { chooseState } from '../translate/state-store.ts'
import { translateInSteps } from '../translate/translate.ts'
import {
  type FateInPods,
  nothingRuns,
  type ProviderVerdict,
  type Running,
  type TranslateInput,
  type Translation,
} from '../translate/translation.ts'
import type { Attempt } from './attempt.ts'
import { belongsTo, type ChildApplier } from './child-applier.ts'
import { contains } from './contains.ts'
import type { FleetApplier } from './fleet-applier.ts'
import { revisionOf } from './revisions.ts'
import type { RedisPasswords } from './redis-passwords.ts'
import type { ReferenceLoader } from './reference-loader.ts'
import { runningWith } from './running-config.ts'
import type { StatusWriter } from './status-writer.ts'
import { takeTurns } from './take-turns.ts'
import type { TranslationMemo } from './translation-memo.ts'
import type { ProviderOutcome, Verdicts } from './verdicts.ts'
import type { World } from './world.ts'

export interface RouterReconcilerParts {
  readonly world: World
  readonly references: ReferenceLoader
  readonly children: ChildApplier
  readonly fleet: FleetApplier
  readonly passwords: RedisPasswords
  readonly statuses: StatusWriter<RpcRouterStatus>
  readonly verdicts: Verdicts
  readonly events: Pick<EventRecorder, 'record'>
  readonly translations: TranslationMemo
  readonly chains: KnownChains
  readonly build: BuildContext
  readonly clock: Clock
  /** Called with the keys of providers about which a router thinks otherwise now. */
  readonly onVerdicts: (providers: readonly string[]) => void
}

/** Waited for what no watch tells of: a reference of the config that runs, a foreign object of our name. */
const heldAgainMs = 30_000

/** Nothing runs for a router whose config will be refused. */
const canShareState = unsupportedName('shared-state', 'true') === null

/** Answers that tell of the moment, not of the object; so do those of a server that fails. */
const passing: readonly number[] = [401, 403, 408, 409, 410, 429]

/** What may pass is told when so many tries in a row have failed: after about a second. */
const patientTries = 8

function mayPass({ status }: ApiError): boolean {
  return status >= 500 || passing.includes(status)
}

/** Brings the objects of one router to what it and its providers ask for, and says so in its status. */
export class RouterReconciler {
  readonly #parts: RouterReconcilerParts

  constructor(parts: RouterReconcilerParts) {
    this.#parts = parts
  }

  readonly reconcile = async (
    key: string,
    { signal, failures }: ReconcileContext,
  ): Promise<Outcome | undefined> => {
    const { world, verdicts, statuses, onVerdicts } = this.#parts
    const object = world.routers.get(key)
    if (object === undefined) {
      this.#parts.translations.forget(key)
      onVerdicts(verdicts.forget(key))
      return undefined
    }
    if (object.metadata.deletionTimestamp !== undefined) return undefined
    const { value, faults } = world.router(object)
    if (value === null) {
      const invalid = { object: statuses.latest(object), faults, now: this.#now() }
      await statuses.write(object, invalidRouterStatus(invalid, this.#deployment(object)), signal)
      return undefined
    }
    return this.#reconcile(key, statuses.latest(value), failures, signal)
  }

  async #reconcile(
    key: string,
    router: RpcRouter,
    failures: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { children } = this.#parts
    // One that was never reconciled has none.
    if (!isPaused(router) && router.status !== undefined)
      await children.reclaim(router, deployments, routerObjectName(router), signal)
    const before = this.#deployment(router)?.spec.template ?? null
    const running = this.#running(router)
    const redisPassword = await this.#redisPassword(router, signal)
    const { world, references } = this.#parts
    const translation = await references.read(
      router.metadata.namespace,
      () => world.referencesOf(router, world.providersOf(router), running),
      () => this.#settle(router, running, redisPassword),
      signal,
    )
    const attempt = await this.#apply(router, translation, redisPassword, signal)
    const deployment = this.#deployment(router)
    const after = deployment?.spec.template ?? null
    // The next attempt would not see it: the pods are asked for, whatever else is refused.
    for (const told of templateOccurrences(before, after))
      this.#parts.events.record({ ...told, regarding: router })
    if (attempt.error !== null && mayPass(attempt.error) && failures < patientTries)
      throw attempt.error
    const { applied } = attempt
    const now = this.#now()
    const rollsOut = isOtherTemplate(before, after)
    const missingMonitor = this.#missingMonitor(router)
    const observed = { router, translation, applied, deployment, missingMonitor, rollsOut, now }
    const status = routerStatus(observed)
    const occurrences = routerOccurrences(router, status)
    await this.#parts.statuses.write(router, status, signal)
    for (const told of occurrences) this.#parts.events.record({ ...told, regarding: router })
    const isApplied = applied.result === 'applied'
    // The pods may have changed though what came after them was refused.
    this.#tell(key, router, translation, isApplied ? null : this.#running(router))
    if (attempt.error !== null) throw attempt.error
    // What mends a router that is refused as a whole is told by the watch.
    const isRefused = translation.config === null && translation.refusals.length > 0
    const isHeld = translation.dangling.length > 0 || applied.result === 'conflict'
    const waits = [attempt.againMs, isHeld && !isRefused ? heldAgainMs : null]
    const againMs = Math.min(...waits.map((ms) => ms ?? Infinity))
    return againMs === Infinity ? {} : { requeueAfterMs: againMs }
  }

  /** A config with which new pods could not start is good for as long as none has to. */
  async #settle(
    router: RpcRouter,
    running: Running,
    redisPassword: string | null,
  ): Promise<Translation> {
    const { world } = this.#parts
    // What is there now, for both: while one is made, events may come.
    const seen = {
      providers: world.providersOf(router),
      unreadable: world.unreadableProvidersOf(router),
      data: world.dataOf(router.metadata.namespace),
    }
    const kept = await this.#translate(router, running, redisPassword, seen, false)
    const goesOn = kept.startable || kept.config === null || this.#goesOn(router, kept, kept.config)
    return goesOn ? kept : this.#translate(router, running, redisPassword, seen, true)
  }

  /**
   * Whether pods can go on with a config with which no new one could start: when all that are wanted run, with all else
   * that the router asks of them. Where an endpoint would close, as many are enough as have to be there while nodes are
   * drained: below that, the other endpoints are worth more.
   */
  #goesOn(router: RpcRouter, { closing }: Translation, config: RenderedConfig): boolean {
    const deployment = this.#deployment(router)
    if (deployment === null) return false
    const { children, build } = this.#parts
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
  ): Promise<Translation> {
    const { world, chains, translations, clock } = this.#parts
    const known = redisPassword === null ? data : withPassword(data, router, redisPassword)
    const objects = world.fingerprint(router, providers, running)
    const basis = {
      objects: JSON.stringify([objects, unreadable, redisPassword]),
      running: JSON.stringify([newPods, running.upstreams, [...running.secretHashes]]),
    }
    return translations.of(keyOf(router.metadata), basis, () =>
      takeTurns(
        translateInSteps({ router, providers, unreadable, data: known, chains, running, newPods }),
        clock,
      ),
    )
  }

  /** Of the Redis that the operator runs for the router; null when it runs none. */
  async #redisPassword(router: RpcRouter, signal: AbortSignal): Promise<string | null> {
    const { store, refusals } = chooseState(router.spec)
    const isHere = store.kind === 'managed' && refusals.length === 0 && canShareState
    return isHere && !isPaused(router) ? this.#parts.passwords.of(router, signal) : null
  }

  async #apply(
    router: RpcRouter,
    { config, state }: Translation,
    redisPassword: string | null,
    signal: AbortSignal,
  ): Promise<Attempt> {
    if (config === null || isPaused(router))
      return { applied: { result: 'held' }, error: null, againMs: null }
    const { fleet, build } = this.#parts
    const redis =
      redisPassword === null ? [] : buildRedis(router, state.store, redisPassword, build)
    const { configHash } = config
    const deployment = this.#deployment(router)
    const current = deployment === null ? null : revisionOf(deployment).configHash
    const others = this.#portsOfOthers(router, config)
    const objects = [...redis, ...buildFleet(router, config, build, others)]
    return fleet.apply(router, { configHash, current, objects }, signal)
  }

  /** Ports of pods with other configs: they run to the end of a rollout, and again when it is undone. */
  #portsOfOthers(router: RpcRouter, wanted: RenderedConfig): readonly PodPorts[] {
    const deployment = this.#deployment(router)
    return [
      ...this.#parts.world.replicaSets.byIndex('instance', keyOf(router.metadata)),
      // Its ReplicaSet may be yet to come.
      ...(deployment === null ? [] : [revisionOf(deployment)]),
    ]
      .filter(({ configHash }) => configHash !== wanted.configHash)
      .map(({ ports }) => ports)
  }

  #missingMonitor({ spec }: RpcRouter): string | null {
    const { type } = spec.monitoring
    return type === 'None' || this.#parts.build.monitors.has(type) ? null : type
  }

  /** The upstreams of the config that the Deployment has now, and the Secrets that it was started with. */
  #running(router: RpcRouter): Running {
    const deployment = this.#deployment(router)
    const hash = deployment === null ? null : revisionOf(deployment).configHash
    if (deployment === null || hash === null) return nothingRuns
    const { namespace } = router.metadata
    const key = keyOf({ namespace, name: configMapName(router, hash) })
    const configMap = this.#parts.children.latest<ConfigMap>(configMaps, key)
    return runningWith(router, deployment, configMap)
  }

  #deployment({ metadata }: Pick<KubeObject, 'metadata'>): Deployment | null {
    const key = keyOf({ namespace: metadata.namespace, name: routerObjectName({ metadata }) })
    const found = this.#parts.children.latest<Deployment>(deployments, key)
    return found !== null && belongsTo(found, { metadata }) ? found : null
  }

  /**
   * Lets the providers know.
   *
   * @param running of a router that was held back: what it goes on with
   */
  #tell(key: string, router: RpcRouter, { providers }: Translation, running: Running | null): void {
    const { world, verdicts, onVerdicts } = this.#parts
    const { namespace, name } = router.metadata
    const outcomes = new Map<string, ProviderOutcome>()
    for (const verdict of providers) {
      const { provider, refusals } = verdict
      const providerKey = keyOf({ namespace, name: provider })
      const object = world.providers.get(providerKey)
      if (object === undefined) continue
      outcomes.set(providerKey, {
        router: name,
        isPending: false,
        refusals,
        fate: running === null ? verdict.fate : fateIn(running, verdict),
        providerUid: object.metadata.uid ?? '',
        generation: object.metadata.generation ?? 0,
      })
    }
    onVerdicts(verdicts.set(key, outcomes))
  }

  #now(): string {
    return rfc3339(this.#parts.clock.wallMs())
  }
}

/** What becomes of a provider while pods stay as they are. */
function fateIn({ upstreams, secretHashes }: Running, verdict: ProviderVerdict): FateInPods {
  const { provider, plan, fate, refusals, secretHashes: present } = verdict
  const ran = upstreams.find((upstream) => upstream.provider === provider)
  if (ran === undefined) return 'left-out'
  if (fate === 'kept-by-pods') return fate
  if (JSON.stringify(ran) !== JSON.stringify(plan)) return 'kept'
  const changed = [...present].filter(([place, hash]) => secretHashes.get(place) !== hash)
  if (changed.length === 0) return 'used'
  const isGone = changed.some(([, hash]) => hash === '')
  return isGone || refusals.length > 0 ? 'kept-by-pods' : 'outdated'
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
