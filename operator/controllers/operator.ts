// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import type { UpstreamProviderStatus } from '../api/upstream-provider-status.ts'
import { Applier } from '../kube/applier.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock, Random } from '../kube/clock.ts'
import { Controller } from '../kube/controller.ts'
import { EventRecorder } from '../kube/event-recorder.ts'
import type { KubeObject } from '../kube/object.ts'
import type { KubeObserver } from '../kube/observer.ts'
import { type Reflector, synced } from '../kube/reflector.ts'
import type { BuildContext } from '../resources/build-context.ts'
import { childKinds, monitorKinds, rpcRouters, upstreamProviders } from '../resources/kinds.ts'
import { chainNames } from '../translate/upstream-plan.ts'
import { ChildApplier } from './child-applier.ts'
import { Departures } from './departures.ts'
import { DeploymentApplier } from './deployment-applier.ts'
import { fieldManager, statusManager } from './field-managers.ts'
import { FirstLists, type Scope } from './first-lists.ts'
import { FleetApplier } from './fleet-applier.ts'
import { OptionalKinds } from './optional-kinds.ts'
import { ProviderReconciler } from './provider-reconciler.ts'
import { RedisPasswords } from './redis-passwords.ts'
import { ReferenceLoader } from './reference-loader.ts'
import { Revisions } from './revisions.ts'
import { RouterReconciler } from './router-reconciler.ts'
import { RouterTranslator } from './router-translator.ts'
import { RunningFleets } from './running-fleets.ts'
import { StatusWriter } from './status-writer.ts'
import { TranslationMemo } from './translation-memo.ts'
import { connectTriggers } from './triggers.ts'
import { Verdicts } from './verdicts.ts'
import { reflectChildren, reflectWorld } from './watched-kinds.ts'
import { World } from './world.ts'

export interface OperatorOptions {
  /** For reads. */
  readonly client: KubeClient
  /** For writes: guarded by the lease where there is one. */
  readonly writer: KubeClient
  readonly clock: Clock
  readonly random: Random
  readonly observer: KubeObserver
  /** Namespaces to look at; null for all. */
  readonly namespaces: readonly string[] | null
  /** With the kinds of the Prometheus operator that the cluster knows now. Others are looked for. */
  readonly build: Pick<BuildContext, 'images' | 'monitors'>
  readonly chains: KnownChains
  /** Objects of one kind that are reconciled at once. */
  readonly workers: number
  /** This process, as events name it. */
  readonly instance: string
  readonly generatePassword: () => string
}

/** All controllers on one cluster: what they watch, and what they do about it. */
export class Operator {
  readonly routers: Controller
  readonly providers: Controller
  readonly world: World
  readonly #asked: readonly Reflector<KubeObject>[]
  readonly #others: readonly Reflector<KubeObject>[]
  readonly #optional: OptionalKinds
  readonly #scopes: readonly Scope[]
  readonly #lists: FirstLists
  readonly #events: EventRecorder

  constructor(options: OperatorOptions) {
    const { client, writer, clock, random, observer, workers, chains, instance } = options
    const monitors = new Set(options.build.monitors)
    const build = { ...options.build, monitors, chainIdOf: chainNames(chains) }
    this.world = new World(childKinds)
    const { asked, others } = reflectWorld(this.world, monitorKinds, options)
    this.#scopes = options.namespaces ?? [null]
    this.#lists = new FirstLists(this.#scopes)
    this.#asked = asked
    this.#others = others
    this.#optional = new OptionalKinds({
      client,
      clock,
      observer,
      kinds: monitorKinds,
      known: monitors,
      isWanted: ({ kind }) => this.world.routersWithMonitor(kind).length > 0,
      reflect: (kind, each) => reflectChildren(this.world, kind, { ...options, observer: each }),
      onChange: (kind, isKnown) => {
        // Its objects went with it.
        if (!isKnown) this.world.children.store(kind).clear()
        for (const router of this.world.routersWithMonitor(kind.kind)) this.routers.enqueue(router)
      },
    })
    this.#events = new EventRecorder({
      client: writer,
      reportingController: 'rpcrouter.dev/operator',
      reportingInstance: instance,
      clock,
      random,
      observer,
    })
    const { world } = this
    const events = this.#events
    const applier = new Applier({ client: writer, fieldManager, statusManager })
    const reader = {
      get: client.get.bind(client),
      list: client.list.bind(client),
      delete: writer.delete.bind(writer),
      apply: writer.apply.bind(writer),
      mergePatch: writer.mergePatch.bind(writer),
    }
    const children = new ChildApplier({
      client: reader,
      applier,
      children: world.children,
      clock,
    })
    const routerStatuses = new StatusWriter<RpcRouterStatus>(applier, rpcRouters, world.routers)
    const providerStatuses = new StatusWriter<UpstreamProviderStatus>(
      applier,
      upstreamProviders,
      world.providers,
    )
    const verdicts = new Verdicts()
    const references = new ReferenceLoader(client, world.children)
    const fleets = new RunningFleets(children)
    const translator = new RouterTranslator({
      ...{ world, references, children, fleets, chains, build, clock },
      passwords: new RedisPasswords(reader, children, options.generatePassword),
      memo: new TranslationMemo(),
    })
    const routerReconciler = new RouterReconciler({
      world,
      fleets,
      translator,
      applier: new FleetApplier(
        children,
        new DeploymentApplier(reader, children),
        new Revisions(client, world.replicaSets),
        (kind) => this.#optional.lost(kind),
      ),
      statuses: routerStatuses,
      verdicts,
      events,
      build,
      clock,
      onVerdicts: (keys) => {
        for (const key of keys) this.providers.enqueue(key)
      },
    })
    const providerReconciler = new ProviderReconciler({
      world,
      references,
      statuses: providerStatuses,
      verdicts,
      events,
      chains,
      clock,
      isInWork: (router) => this.routers.queue.has(router),
    })
    const departures = new Departures(world.routers, world.providers)
    const shared = { clock, random, observer, workers }
    this.routers = new Controller({
      name: 'rpcrouter',
      reconcile: this.#lists.heeded(
        departures.heeded(world.routers, routerReconciler.reconcile),
        (key) => this.routers.enqueue(key),
      ),
      ...shared,
    })
    this.providers = new Controller({
      name: 'upstreamprovider',
      reconcile: this.#lists.heeded(
        departures.heeded(world.providers, providerReconciler.reconcile),
        (key) => this.providers.enqueue(key),
      ),
      ...shared,
    })
    connectTriggers({
      world,
      children,
      routers: this.routers,
      providers: this.providers,
      routerStatuses,
      providerStatuses,
    })
  }

  get #reflectors(): readonly Reflector<KubeObject>[] {
    return [...this.#asked, ...this.#others, ...this.#optional.reflectors]
  }

  /** Every kind was listed once, in every namespace. */
  get hasSynced(): boolean {
    return this.missing.length === 0
  }

  /** The namespaces that are yet to be listed whole, and are left alone until then; null for all of the cluster. */
  get missing(): readonly Scope[] {
    return this.#lists.missing
  }

  /** Milliseconds since the watch that was silent for longest was heard of; before its first list since the start. */
  get silentMs(): number {
    return Math.max(0, ...this.#reflectors.map(({ silentMs }) => silentMs))
  }

  /** Watches until the signal is aborted, leading or not: a standby knows the world when it takes over. */
  async watch(signal: AbortSignal): Promise<void> {
    const scopes = this.#scopes.map((scope) => this.#watchScope(scope, signal))
    await Promise.all([...scopes, this.#optional.run(signal)])
  }

  async #watchScope(scope: Scope, signal: AbortSignal): Promise<void> {
    const ofScope = ({ namespace }: Reflector<KubeObject>) => namespace === scope
    const [asked, others] = [this.#asked.filter(ofScope), this.#others.filter(ofScope)]
    const run = (reflectors: readonly Reflector<KubeObject>[]) =>
      Promise.all(reflectors.map((reflector) => reflector.run(signal)))
    const noted = Promise.all([
      synced([...asked, ...others], signal),
      this.#optional.synced(scope, signal),
    ]).then(() => {
      if (!signal.aborted) this.#lists.listed(scope)
    })
    await Promise.all([run(asked), synced(asked, signal).then(() => run(others)), noted])
  }

  /** Acts where all is known, until the signal is aborted; resolves when the last reconcile has ended. */
  async lead(signal: AbortSignal): Promise<void> {
    await synced([this.#lists], signal)
    await Promise.all([this.routers, this.providers, this.#events].map((each) => each.run(signal)))
  }
}
