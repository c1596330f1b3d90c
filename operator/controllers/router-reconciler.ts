// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { ApplyOrder, ApplyResult, WantedObjects } from '../apply/apply-order.ts'
import { belongsTo } from '../apply/child-applier.ts'
import { type Exchange, exchange } from '../apply/config-exchange.ts'
import { contains } from '../apply/contains.ts'
import { type RolloutSlots, slotRequeueMs, withoutNewPods } from '../apply/rollout-slots.ts'
import { StatusWriter } from '../apply/status-writer.ts'
import { revisionOf } from '../cache/child-stores.ts'
import type { FleetObserver } from '../cache/fleet-observer.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { Outcome, ReconcileContext } from '../kube/controller.ts'
import type { ApiError } from '../kube/errors.ts'
import type { EventRecorder, Occurrence } from '../kube/event-recorder.ts'
import { type KubeObject, objectKey, type Resource } from '../kube/object.ts'
import { type BuildContext, buildFleet } from '../resources/build-children.ts'
import { buildLastGood } from '../resources/deployment.ts'
import {
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  rpcRouters,
  services,
  statefulSets,
} from '../resources/kinds.ts'
import { contentHashAnnotation } from '../resources/labels.ts'
import type { PodPorts } from '../resources/ports.ts'
import { buildRedis } from '../resources/redis.ts'
import {
  conditionOccurrences,
  isOtherTemplate,
  deploymentOccurrences,
} from '../status/condition-set.ts'
import type { PodView } from '../status/fleet-view.ts'
import { invalidRouterStatus } from '../status/invalid-status.ts'
import { isObserved, isRolling } from '../status/rollout.ts'
import { type RolloutStop, rolloutStop } from '../status/rollout-stop.ts'
import { isPaused, routerStatus } from '../status/router-status.ts'
import { type Component, objectName } from '../translate/object-names.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { requeueAfterMs, podRequeueMs, troublesOf } from './pod-troubles.ts'
import { type ProviderResults, resultsOf } from './provider-reconciler.ts'
import {
  type TranslatedRouter,
  type TranslatorOptions,
  translateRouter,
} from './router-translator.ts'

export interface RouterReconcilerOptions extends TranslatorOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'apply'>
  readonly applier: ApplyOrder
  readonly results: ProviderResults
  readonly events: Pick<EventRecorder, 'record'>
  readonly build: BuildContext
  readonly slots: RolloutSlots
  /** Null: the operator does not observe pods. */
  readonly fleets: Pick<FleetObserver, 'observations' | 'observeSoon' | 'refusals'> | null
  readonly clock: Clock
  /** Called with the keys of the providers whose result changed. */
  readonly onResults: (providers: readonly string[]) => void
}

/** Client error statuses that are transient, as server errors are. */
const transientStatuses: readonly number[] = [401, 403, 408, 409, 410, 429]

/**
 * Failed attempts before the status reports a transient failure: about a second. The log waits
 * longer, but only for forbidden requests: see `controller.ts`.
 */
const quietTries = 8

const skipped: ApplyResult = { applied: { result: 'skipped' }, error: null, requeueMs: null }
const queued: ApplyResult = {
  applied: {
    result: 'queued',
    message:
      'It waits for other routers to finish replacing their pods: see --max-rolling-routers.',
  },
  error: null,
  requeueMs: slotRequeueMs,
}

/** Applies the objects that a router and its providers call for, and writes the router's status. */
export class RouterReconciler {
  readonly #options: RouterReconcilerOptions
  readonly #statuses: StatusWriter<RpcRouterStatus>
  readonly #delay: RolloutDelay

  constructor(options: RouterReconcilerOptions) {
    const { client, cache, clock, events } = options
    this.#options = options
    this.#statuses = new StatusWriter(client, rpcRouters, cache.routers, clock, events)
    this.#delay = new RolloutDelay(clock)
  }

  readonly reconcile = async (
    key: string,
    { signal, failures }: ReconcileContext,
  ): Promise<Outcome> => {
    const { cache, references, results, onResults } = this.#options
    const object = cache.routers.get(key)
    if (object === undefined) {
      references.readBy.routers.delete(key)
      this.#delay.forget(key)
      onResults(results.forget(key))
      return {}
    }
    if (object.metadata.deletionTimestamp !== undefined) return {}
    const { value, faults } = cache.router(object)
    if (value !== null) return this.#reconcile(key, this.#statuses.latest(value), failures, signal)
    const invalid = { object: this.#statuses.latest(object), faults, now: this.#now() }
    const status = invalidRouterStatus(invalid, this.#child(deployments, object))
    await this.#statuses.write(object, status, signal)
    return {}
  }

  async #reconcile(
    key: string,
    router: RpcRouter,
    failures: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const present = this.#child(deployments, router)
    const openPorts = present === null ? [] : revisionOf(present).ports.listen
    const translated = await translateRouter(this.#options, router, openPorts, signal)
    const { config } = translated.translation
    const exchanged = config && this.#exchange(key, router, config, present)
    const built = this.#wanted(router, translated, present, exchanged)
    const stop = isPaused(router) ? null : this.#stop(key, present, deploymentIn(built))
    const wanted = built && stop ? withStop(built) : built
    const delayMs = this.#delayMs(key, wanted, present)
    if (delayMs > 0) return { requeueAfterMs: delayMs }

    const result = wanted === null ? skipped : await this.#apply(router, wanted, present, signal)
    const deployment = this.#child(deployments, router)
    const templates = [present?.spec.template ?? null, deployment?.spec.template ?? null] as const
    // Recorded now: the next attempt finds the Deployment applied and would miss the change.
    this.#record(router, deploymentOccurrences(present, deployment))
    if (result.error !== null && isTransient(result.error) && failures < quietTries)
      throw result.error

    const { translation } = translated
    const { type } = router.spec.monitoring
    const redis = translated.redis.flatMap(
      ({ component }) => this.#child(statefulSets, router, component) ?? [],
    )
    const isCutOff = this.#child(services, router) === null
    const troubles = await troublesOf(this.#options.client, router, { deployment, redis }, signal)
    const status = routerStatus({
      ...{ router, translation, applied: result.applied, deployment, isCutOff, now: this.#now() },
      autoscaler: this.#child(horizontalPodAutoscalers, router),
      missingMonitor: type === 'None' || this.#options.build.monitors.has(type) ? null : type,
      rollsOut: isOtherTemplate(...templates),
      ...troubles,
      behind: this.#behind(key, exchanged),
      refusedBy: exchanged?.refusedBy ?? null,
      stop,
      observations: this.#options.fleets?.observations(key) ?? null,
    })
    const occurrences = conditionOccurrences('NotAccepted', router.status, status)
    this.#report(key, router, translated, deployment)
    await this.#statuses.write(router, status, signal)
    this.#record(router, occurrences)
    if (result.error !== null) throw result.error
    const isBehind = status.conditions?.some(({ reason }) => reason === 'ConfigPending')
    const requeueMs =
      result.requeueMs ??
      (isBehind ? requeueAfterMs : troubles && podRequeueMs(status, this.#options.clock.wallMs()))
    return requeueMs === null ? {} : { requeueAfterMs: requeueMs }
  }

  /** Applies the desired objects. If they replace pods, that takes a rollout slot. */
  async #apply(
    router: RpcRouter,
    wanted: WantedObjects,
    present: Deployment | null,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const { applier, slots, cache } = this.#options
    const apply = () => applier.apply(router, wanted, signal)
    if (present === null || !replacesPods(present, deploymentIn(wanted))) return apply()
    const rolling = cache.routers
      .list()
      .filter((each) => isRolling(this.#child(deployments, each)))
      .map(({ metadata }) => objectKey(metadata))
    const started = await slots.take(objectKey(router.metadata), rolling, apply)
    if (started !== null) return started
    const result = await applier.apply(router, withoutNewPods(wanted, present), signal)
    if (result.applied.result === 'applied') return queued
    return { ...result, requeueMs: result.requeueMs ?? slotRequeueMs }
  }

  /** Returns the config for the pods. An operator that observes no pods never rolls back. */
  #exchange(
    key: string,
    router: RpcRouter,
    config: RenderedConfig,
    present: Deployment | null,
  ): Exchange {
    const { fleets, children } = this.#options
    if (fleets === null || present === null) return { config, good: null, refusedBy: null }
    const pods = fleets.observations(key).at(-1)?.pods ?? []
    return exchange(children, router, config, present, { pods, refusals: fleets.refusals(key) })
  }

  /** Returns pods with another config, and observes them again soon; null if unknown. */
  #behind(key: string, exchanged: Exchange | null): readonly PodView[] | null {
    const { fleets } = this.#options
    if (fleets === null || exchanged === null) return []
    const { config } = exchanged
    const behind = fleets
      .observations(key)
      .at(-1)
      ?.pods.filter((each) => !each.configSha256.startsWith(config.contentHash))
    if (behind !== undefined && behind.length > 0) fleets.observeSoon(key)
    return behind ?? null
  }

  /** Decides whether the rollout stops. A changed template begins another, which does not. */
  #stop(key: string, present: Deployment | null, wanted: Deployment | null): RolloutStop | null {
    const { fleets, cache } = this.#options
    if (fleets === null || present === null || replacesPods(present, wanted)) return null
    // A Deployment that Kubernetes has not observed still has the number of the rollout before.
    const revision = isObserved(present) ? revisionOf(present).revision : undefined
    const newest = cache.replicaSets
      .byIndex('instance', key)
      .find((each) => revision !== undefined && each.revision === revision)
    const template = newest?.metadata.labels?.['pod-template-hash']
    return rolloutStop(fleets.observations(key).at(-1), template, present.spec.paused === true)
  }

  /** Returns an object of the router; null if it does not exist or has another owner. */
  #child<T extends KubeObject>(
    kind: Resource<T>,
    { metadata }: Pick<KubeObject, 'metadata'>,
    component: Component = 'router',
  ): T | null {
    const ref = { namespace: metadata.namespace, name: objectName({ metadata }, component) }
    const found = this.#options.children.latest(kind, ref)
    return found !== null && belongsTo(found, { metadata }) ? found : null
  }

  /** Returns a router's desired objects; null if the current ones must not change. */
  #wanted(
    router: RpcRouter,
    { redis }: TranslatedRouter,
    present: Deployment | null,
    exchanged: Exchange | null,
  ): WantedObjects | null {
    if (exchanged === null || isPaused(router)) return null
    const { build } = this.#options
    const { config, good } = exchanged
    const others = this.#portsOfOthers(router, config, present)
    return {
      fixedHash: config.fixedHash,
      current: present === null ? null : revisionOf(present).fixedHash,
      objects: [
        ...redis.flatMap((each) => buildRedis(router, each, each.password, build)),
        ...buildFleet(router, config, build, others),
        ...(good === null ? [] : [buildLastGood(router, good)]),
      ],
    }
  }

  /** Returns the ports of other revisions, which may still run or run again. */
  #portsOfOthers(
    router: RpcRouter,
    wanted: RenderedConfig,
    present: Deployment | null,
  ): readonly PodPorts[] {
    return [
      ...this.#options.cache.replicaSets.byIndex('instance', objectKey(router.metadata)),
      // The ReplicaSet of the Deployment may not exist yet.
      ...(present === null ? [] : [revisionOf(present)]),
    ]
      .filter(({ fixedHash }) => fixedHash !== wanted.fixedHash)
      .map(({ ports }) => ports)
  }

  /** Returns how long to wait for further changes before applying a pod template or config. */
  #delayMs(key: string, wanted: WantedObjects | null, present: Deployment | null): number {
    const deployment = deploymentIn(wanted)
    const isSame =
      present !== null &&
      !replacesPods(present, deployment) &&
      contentOf(present) === contentOf(deployment)
    if (deployment !== null && !isSame) {
      const what = JSON.stringify([contentOf(deployment), deployment.spec.template])
      return this.#delay.leftMs(key, what, present === null)
    }
    this.#delay.forget(key)
    return 0
  }

  #record(router: RpcRouter, occurrences: readonly Omit<Occurrence, 'regarding'>[]): void {
    for (const each of occurrences) this.#options.events.record({ ...each, regarding: router })
  }

  /** Stores the results for the providers. */
  #report(
    key: string,
    { metadata }: RpcRouter,
    { translation, selected }: TranslatedRouter,
    deployment: Deployment | null,
  ): void {
    // The pods may have the config even if a later object was refused.
    const { config } = translation
    const isBlocked = config === null || config.contentHash !== contentOf(deployment)
    const { results, onResults } = this.#options
    onResults(results.set(key, resultsOf(metadata.name, translation, selected, isBlocked)))
  }

  #now(): string {
    return rfc3339(this.#options.clock.wallMs())
  }
}

function deploymentIn(wanted: WantedObjects | null): Deployment | null {
  const found = wanted?.objects.find(({ kind }) => kind === deployments.kind)
  return (found as Deployment | undefined) ?? null
}

/** Pauses the Deployment, so that Kubernetes replaces no more pods. */
function withStop(wanted: WantedObjects): WantedObjects {
  const objects = wanted.objects.map((each) =>
    each.kind === deployments.kind
      ? { ...each, spec: { ...(each as Deployment).spec, paused: true } }
      : each,
  )
  return { ...wanted, objects }
}

function replacesPods(present: Deployment, wanted: Deployment | null): boolean {
  return wanted !== null && !contains(present.spec.template, wanted.spec.template)
}

function contentOf(deployment: Deployment | null): string | undefined {
  return deployment?.metadata.annotations?.[contentHashAnnotation]
}

function isTransient({ status }: ApiError): boolean {
  return status >= 500 || transientStatuses.includes(status)
}

/** Quiet period before pods are replaced, and the maximum delay. */
const rollout = { quietMs: 1_000, maxMs: 10_000 }
/** The same for the first pods. It is shorter, because no client is served yet. */
const creation = { quietMs: 500, maxMs: 5_000 }

interface Waiting {
  readonly template: string
  readonly sinceMs: number
  readonly changedMs: number
  /** The delay for this template is over, even if its apply fails. */
  readonly isOver: boolean
}

/** Debounces changes, so that one `kubectl apply` of many objects causes one rollout. */
export class RolloutDelay {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #waiting = new Map<string, Waiting>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /**
   * Returns the milliseconds until a template may be applied; 0: now.
   * @param template identifies the template
   * @param isFirst whether the router has no pods yet
   */
  leftMs(router: string, template: string, isFirst: boolean): number {
    const { quietMs, maxMs } = isFirst ? creation : rollout
    const nowMs = this.#clock.nowMs()
    const known = this.#waiting.get(router)
    const isSame = known?.template === template
    if (isSame && known.isOver) return 0
    const sinceMs = known === undefined || known.isOver ? nowMs : known.sinceMs
    const changedMs = isSame ? known.changedMs : nowMs
    const leftMs = Math.max(0, Math.min(changedMs + quietMs, sinceMs + maxMs) - nowMs)
    this.#waiting.set(router, { template, sinceMs, changedMs, isOver: leftMs === 0 })
    return leftMs
  }

  /** Ends the delay for a router. */
  forget(router: string): void {
    this.#waiting.delete(router)
  }
}
