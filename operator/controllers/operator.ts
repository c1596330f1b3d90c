// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ApplyOrder } from '../apply/apply-order.ts'
import { ChildApplier } from '../apply/child-applier.ts'
import { RolloutSlots } from '../apply/rollout-slots.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import { FleetObserver, type ReadPodPage } from '../cache/fleet-observer.ts'
import { References } from '../cache/references.ts'
import { connectTriggers } from '../cache/triggers.ts'
import { reflectCluster } from '../cache/watched-kinds.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock, Random } from '../kube/clock.ts'
import { Controller, type ControllerOptions } from '../kube/controller.ts'
import { isNamespaceTerminating } from '../kube/errors.ts'
import { EventRecorder } from '../kube/event-recorder.ts'
import { type KubeObject, refOf, type Resource } from '../kube/object.ts'
import type { KubeObserver } from '../kube/observer.ts'
import { type Reflector, synced } from '../kube/reflector.ts'
import type { Images } from '../resources/build-children.ts'
import { fieldManager } from '../resources/foreign-fields.ts'
import { childKinds } from '../resources/kinds.ts'
import { type ChainIdOf, chainNames } from '../translate/router-document.ts'
import { ProviderReconciler, ProviderResults } from './provider-reconciler.ts'
import { RouterReconciler } from './router-reconciler.ts'
import type { TranslatorOptions } from './router-translator.ts'

export interface OperatorOptions extends Pick<
  TranslatorOptions,
  'bundled' | 'allowLinkLocal' | 'generatePassword'
> {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: Random
  readonly observer: KubeObserver
  /** Namespaces to watch; null for all. */
  readonly namespaces: readonly string[] | null
  readonly images: Images
  /** Number of objects of one kind to reconcile concurrently. */
  readonly workers: number
  /** Number of routers that may replace their pods at the same time. */
  readonly maxRollingRouters: number
  /** Name of this process in Events. */
  readonly instance: string
  /** Null: the operator does not observe pods. */
  readonly readPodPage: ReadPodPage | null
  /** Namespace of this process's pod; null outside a pod. */
  readonly podNamespace: string | null
}

/** A namespace, or null for a watch of the whole cluster. */
type Scope = string | null

/** Retry interval for an object whose scope is not listed yet. */
const requeueAfterMs = 1_000

/** All watches and controllers of one cluster. */
export class Operator {
  readonly routers: Controller
  readonly providers: Controller
  readonly cache: ClusterCache
  readonly references: References
  readonly #reflectors: readonly Reflector<KubeObject>[]
  /** Kinds of the Prometheus operator that exist in the cluster. */
  readonly #monitors = new Set<string>()
  /** Namespaces that are being deleted. */
  readonly #terminating = new Set<string>()
  readonly #scopes: readonly Scope[]
  readonly #events: EventRecorder
  readonly #fleets: FleetObserver | null

  constructor(options: OperatorOptions) {
    const { client, clock, random, observer, workers } = options
    const cache = new ClusterCache(childKinds)
    this.cache = cache
    this.references = new References(client)
    for (const store of [cache.routers, cache.providers])
      store.subscribe(({ type, object }) => {
        // A terminating namespace takes no new objects, so this is a new namespace of the same
        // name.
        if (type === 'added') this.#terminating.delete(object.metadata.namespace ?? '')
      })
    this.#reflectors = reflectCluster(cache, this.references, {
      ...options,
      onMonitorServed: (kind, isServed) => this.#setServed(kind, isServed),
    })
    this.#scopes = options.namespaces ?? [null]
    this.#events = new EventRecorder({
      client,
      reportingController: 'rpcrouter.dev/operator',
      reportingInstance: options.instance,
      fieldManager,
      ...{ clock, random, observer },
    })
    const { readPodPage } = options
    const chainIdOf = chainNames(options.bundled.catalog)
    this.#fleets =
      readPodPage &&
      new FleetObserver({
        ...{ ...options, readPodPage, cache, chainIdOf },
        onChange: (provider) => this.providers.enqueue(provider),
        onServing: (router) => this.routers.enqueue(router),
      })
    const reconcilers = this.#reconcilers(options, chainIdOf)
    const controllerOf = (name: string, { reconcile }: Pick<ControllerOptions, 'reconcile'>) =>
      new Controller({
        name,
        reconcile: this.#inScope(reconcile),
        ...{ clock, random, observer, workers },
      })
    this.routers = controllerOf('rpcrouter', reconcilers.router)
    this.providers = controllerOf('upstreamprovider', reconcilers.provider)
    const { routers, providers, references } = this
    connectTriggers({ cache, references, routers, providers })
  }

  /** Delays keys in scopes that are not listed yet, and skips keys in terminating namespaces. */
  #inScope(reconcile: ControllerOptions['reconcile']): ControllerOptions['reconcile'] {
    return async (key, context) => {
      const { namespace = '' } = refOf(key)
      const scope = this.#scopes.includes(null) ? null : namespace
      if (!this.#isListed(scope)) return { requeueAfterMs: requeueAfterMs }
      if (this.#terminating.has(namespace)) return
      try {
        return await reconcile(key, context)
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error
        // The first refused write reveals it.
        this.#terminating.add(namespace)
      }
    }
  }

  #isListed(scope: Scope): boolean {
    return this.#reflectorsOf(scope).every(({ hasSynced }) => hasSynced)
  }

  #reflectorsOf(scope: Scope): readonly Reflector<KubeObject>[] {
    return this.#reflectors.filter(({ namespace }) => namespace === scope)
  }

  #setServed({ kind }: Resource, isServed: boolean): void {
    if (isServed === this.#monitors.has(kind)) return
    if (isServed) this.#monitors.add(kind)
    else this.#monitors.delete(kind)
    for (const router of this.cache.routersWithMonitor(kind)) this.routers.enqueue(router)
  }

  #reconcilers(options: OperatorOptions, chainIdOf: ChainIdOf) {
    const { client, clock, bundled, images, generatePassword, allowLinkLocal } = options
    const { cache, references } = this
    const results = new ProviderResults()
    const monitors = this.#monitors
    const operatorNamespace = this.#fleets && options.podNamespace
    const build = { images, monitors, chainIdOf, allowLinkLocal, operatorNamespace }
    const read = { client, cache, references, bundled, allowLinkLocal, image: images.router }
    const shared = { ...read, results, clock, chainIdOf, events: this.#events }
    const children = new ChildApplier({ client, children: cache.children, clock })
    const applier = new ApplyOrder({
      client,
      children,
      replicaSets: cache.replicaSets,
    })
    const router = new RouterReconciler({
      ...{ ...shared, children, applier, build, generatePassword, fleets: this.#fleets },
      slots: new RolloutSlots(options.maxRollingRouters),
      onResults: (keys) => {
        for (const key of keys) this.providers.enqueue(key)
      },
    })
    return { router, provider: new ProviderReconciler({ ...shared, fleets: this.#fleets }) }
  }

  /** Whether every kind has been listed in every namespace. */
  get hasSynced(): boolean {
    return this.missing.length === 0
  }

  /**
   * Scopes that are not listed yet; nothing in them is reconciled. A namespace that cannot be
   * listed, because it or its Role is gone, does not delay the others.
   */
  get missing(): readonly Scope[] {
    return this.#scopes.filter((scope) => !this.#isListed(scope))
  }

  /** Milliseconds since the quietest watch received anything, or since the start. */
  get silentMs(): number {
    return Math.max(0, ...this.#reflectors.map(({ silentMs }) => silentMs))
  }

  /** Watches until the signal aborts, even as a standby, so that it can take over immediately. */
  async watch(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)))
  }

  /** Reconciles the listed scopes until the signal aborts. Waits for running reconciles. */
  async lead(signal: AbortSignal): Promise<void> {
    await Promise.race(this.#scopes.map((scope) => synced(this.#reflectorsOf(scope), signal)))
    const acting = [
      this.routers,
      this.providers,
      this.#events,
      ...(this.#fleets ? [this.#fleets] : []),
    ]
    await Promise.all(acting.map((each) => each.run(signal)))
  }
}
