// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { Controller, type Outcome, type ReconcileContext } from '../kube/controller.ts'
import { objectKey, type KubeObject, refOf } from '../kube/object.ts'
import type { Page } from '../kube/page.ts'
import { Reflector, type ReflectorOptions, synced } from '../kube/reflector.ts'
import { Store } from '../kube/store.ts'
import { type Pod, pods } from '../resources/kinds.ts'
import { childSelector, componentOf, instanceKeys } from '../resources/labels.ts'
import { type FleetView, type PodView, podView } from '../status/fleet-view.ts'
import { healthIn, type Observations, upstreamOf } from '../status/provider-health.ts'
import type { ChainIdOf } from '../translate/router-document.ts'
import type { ClusterCache } from './cluster-cache.ts'

/** Asks the pod at an IP address for its status. */
export type ReadPodPage = (ip: string, signal: AbortSignal) => Promise<Page>

export interface FleetObserverOptions extends Pick<
  ReflectorOptions<KubeObject>,
  'client' | 'clock' | 'random' | 'observer'
> {
  readonly readPodPage: ReadPodPage
  /** Null for all. */
  readonly namespaces: readonly string[] | null
  readonly cache: ClusterCache
  readonly chainIdOf: ChainIdOf
  /** Called with a provider whose health has changed. */
  readonly onChange: (provider: string) => void
  /**
   * Called with a router whose pods were found to serve other configs than before, and at the first
   * look.
   */
  readonly onServing: (router: string) => void
}

/** What is kept of a pod. */
interface RunningPod extends KubeObject {
  /** Null while it does not run. */
  readonly ip: string | null
  /** When its container last ended because it cannot serve its config; null if never. */
  readonly endedMs: number | null
}

/** The exit code of a router that refuses its config. */
const invalidConfig = 2

/** A router is looked at so often; a few of them at a time, and of each a few pods. */
const everyMs = 30_000
const routersAtOnce = 4
const podsAtOnce = 4
/** For one look: the pods of a large fleet may all be silent. */
const timeoutMs = 600_000

/** A pod that ended because it cannot serve its config. */
export interface EndedPod {
  readonly pod: string
  readonly createdMs: number
  readonly endedMs: number
}

/** Asks the pods of each router which config they serve and how their upstreams are. */
export class FleetObserver {
  readonly #options: FleetObserverOptions
  readonly #pods = new Store<RunningPod, 'instance'>({ instance: instanceKeys })
  readonly #reflectors: readonly Reflector<KubeObject>[]
  readonly #controller: Controller
  /** By router: the last two, the older one first. */
  readonly #observations = new Map<string, readonly FleetView[]>()

  constructor(options: FleetObserverOptions) {
    const { clock, random, observer = {}, cache, namespaces } = options
    this.#options = options
    this.#reflectors = (namespaces ?? [undefined]).map((namespace) => {
      const selection = { labelSelector: childSelector, ...(namespace && { namespace }) }
      const what = { resource: pods, selection, store: this.#pods, keep: runningPodOf }
      return new Reflector({ ...options, ...what })
    })
    this.#controller = new Controller({
      name: 'fleet',
      reconcile: (key, context) => this.#observe(key, context),
      ...{ clock, random, observer, timeoutMs, workers: routersAtOnce },
    })
    cache.routers.subscribe(({ type, object }) => {
      const key = objectKey(object.metadata)
      if (type === 'added') this.#controller.enqueue(key)
      if (type === 'deleted') this.#observations.delete(key)
    })
  }

  /** The last two looks at the pods of a router, the older one first. */
  observations(router: string): NonNullable<Observations> {
    return this.#observations.get(router) ?? []
  }

  /** Pods of a router that ended because they cannot serve their config. */
  ended(router: string): readonly EndedPod[] {
    return this.#pods.byIndex('instance', router).flatMap(({ metadata, endedMs }) => {
      const createdMs = Date.parse(metadata.creationTimestamp ?? '')
      return endedMs === null ? [] : [{ pod: metadata.name, createdMs, endedMs }]
    })
  }

  /** Before it is due. */
  observeSoon(router: string): void {
    this.#controller.enqueue(router)
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const listed = Promise.race(this.#reflectors.map((each) => synced([each], signal)))
    const looking = listed.then(() => this.#controller.run(signal))
    await Promise.all([looking, ...this.#reflectors.map((each) => each.run(signal))])
  }

  async #observe(key: string, { signal }: ReconcileContext): Promise<Outcome> {
    const { cache } = this.#options
    const router = cache.routers.get(key)
    if (router === undefined) return {}
    const isListed = this.#reflectors.some(
      ({ namespace, hasSynced }) => hasSynced && [null, refOf(key).namespace].includes(namespace),
    )
    if (!isListed) return { requeueAfterMs: everyMs }
    const answers: FleetView[] = []
    const running = this.#pods.byIndex('instance', key).filter(({ ip }) => ip !== null)
    for (let at = 0; at < running.length; at += podsAtOnce) {
      const some = running.slice(at, at + podsAtOnce)
      answers.push(...(await Promise.all(some.map((pod) => this.#observePod(pod, signal)))))
    }
    const view = {
      pods: answers.flatMap((answer) => answer.pods),
      silent: answers.flatMap((answer) => answer.silent),
    }
    if (cache.routers.get(key)?.metadata.uid !== router.metadata.uid) return {}
    const before = this.observations(key).at(-1)
    this.#observations.set(key, [...this.observations(key), view].slice(-2))
    this.#report(router)
    if (!isDeepStrictEqual(before && servedBy(before), servedBy(view))) this.#options.onServing(key)
    return { requeueAfterMs: everyMs }
  }

  async #observePod(
    { metadata: { name }, ip }: RunningPod,
    signal: AbortSignal,
  ): Promise<FleetView> {
    const page = await this.#options.readPodPage(ip ?? '', signal)
    const view: PodView | null = 'text' in page ? podView(name, page.text) : null
    if (view !== null) return { pods: [view], silent: [] }
    const problem = 'problem' in page ? page.problem : 'the answer is not that of a router'
    return { pods: [], silent: [{ pod: name, problem }] }
  }

  #report(router: KubeObject): void {
    const { cache, chainIdOf, onChange } = this.#options
    const observations = this.observations(objectKey(router.metadata))
    for (const key of cache.providerKeysOf(router)) {
      const object = cache.providers.get(key)
      const provider = object === undefined ? null : cache.provider(object).value
      if (provider === null) continue
      const entry = provider.status?.routers?.find(({ name }) => name === router.metadata.name)
      const before = entry?.conditions?.find(({ type }) => type === 'Healthy')
      if (healthIn(observations, upstreamOf(provider, chainIdOf), before) !== before) onChange(key)
    }
  }
}

function servedBy({ pods: views }: FleetView): ReadonlySet<string> {
  return new Set(views.map(({ configSha256, isRefusing }) => `${configSha256} ${isRefusing}`))
}

function runningPodOf(object: KubeObject): RunningPod {
  const { apiVersion, kind, metadata, status } = object as Pod
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata
  const { creationTimestamp } = metadata
  const isRouter = componentOf({ metadata }) === 'router'
  const isRunning = isRouter && status?.phase === 'Running' && deletionTimestamp === undefined
  const kept = { name, namespace, uid, resourceVersion, labels, creationTimestamp }
  const ended = (status?.containerStatuses ?? [])
    // A sidecar may end with the same code for reasons of its own.
    .filter(({ name: container }) => container === 'router')
    .flatMap(({ state, lastState }) => [state?.terminated, lastState?.terminated])
    .find((each) => isRouter && each?.exitCode === invalidConfig)
  return {
    ...{ apiVersion, kind, metadata: kept },
    ip: isRunning ? (status.podIP ?? null) : null,
    endedMs: ended ? Date.parse(String(ended.finishedAt ?? '')) : null,
  }
}
