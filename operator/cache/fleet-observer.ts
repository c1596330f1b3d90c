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
import { type FleetView, isDarkForLong, type PodView, podView } from '../status/fleet-view.ts'
import { healthIn, type Observations, upstreamOf } from '../status/provider-health.ts'
import type { ChainIdOf } from '../translate/router-document.ts'
import type { ClusterCache } from './cluster-cache.ts'

/** Requests the status page of the pod at an IP address. */
export type ReadPodPage = (ip: string, signal: AbortSignal) => Promise<Page>

export interface FleetObserverOptions extends Pick<
  ReflectorOptions<KubeObject>,
  'client' | 'clock' | 'random' | 'observer'
> {
  readonly readPodPage: ReadPodPage
  /** Null for all namespaces. */
  readonly namespaces: readonly string[] | null
  readonly cache: ClusterCache
  readonly chainIdOf: ChainIdOf
  /** Called with a provider whose health changed. */
  readonly onChange: (provider: string) => void
  /**
   * Called with a router after its first observations, and after the two that differ from those
   * before: in configs, listeners or stores.
   */
  readonly onServing: (router: string) => void
}

/** The parts of a pod that are stored. */
interface RunningPod extends KubeObject {
  /** Null while the pod does not run. */
  readonly ip: string | null
  /** SHA-256 of the config that prevented its container from starting; null if there is none. */
  readonly refusedSha256: string | null
}

/** Exit code of a router that refuses its config. Its log ends with the hash of the config. */
const invalidConfig = 2
const refusedLine = /: error: this config is refused; its sha256: (?<sha256>[0-9a-f]{64})\.\s*$/

/** Interval between observations of a router. */
const everyMs = 30_000
const routersAtOnce = 4
const podsAtOnce = 4
/** Timeout of one observation, in which all pods of a large fleet may be silent. */
const timeoutMs = 600_000

/** Observes which config each router's pods serve, and how healthy their upstreams are. */
export class FleetObserver {
  readonly #options: FleetObserverOptions
  readonly #pods = new Store<RunningPod, 'instance'>({ instance: instanceKeys })
  readonly #reflectors: readonly Reflector<KubeObject>[]
  readonly #controller: Controller
  /** By router: the last two observations, oldest first. */
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

  /** Returns the last two observations of a router's pods, oldest first. */
  observations(router: string): NonNullable<Observations> {
    return this.#observations.get(router) ?? []
  }

  /** Returns the pods of a router that refuse a config, including pods that could not start. */
  refusals(router: string): readonly Pick<PodView, 'pod' | 'refusedSha256'>[] {
    const dead = this.#pods.byIndex('instance', router).map(({ metadata, refusedSha256 }) => {
      return { pod: metadata.name, refusedSha256 }
    })
    return [...(this.observations(router).at(-1)?.pods ?? []), ...dead]
  }

  /** Observes a router before its next observation is due. */
  observeSoon(router: string): void {
    this.#controller.enqueue(router)
  }

  /** Runs until the signal aborts. */
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
    const all = [...this.observations(key), view]
    this.#observations.set(key, all.slice(-2))
    this.#report(router)
    const [first, ...others] = all.map(servedBy)
    if (all.length < 3 || others.some((each) => !isDeepStrictEqual(first, each)))
      this.#options.onServing(key)
    return { requeueAfterMs: everyMs }
  }

  async #observePod(
    { metadata: { name, labels }, ip }: RunningPod,
    signal: AbortSignal,
  ): Promise<FleetView> {
    const page = await this.#options.readPodPage(ip ?? '', signal)
    const view: PodView | null = 'text' in page ? podView(name, page.text) : null
    const template = labels?.['pod-template-hash']
    if (view !== null) return { pods: [{ ...view, template }], silent: [] }
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

/** What a router's status says about its pods. */
function servedBy({ pods: views }: FleetView): ReadonlySet<string> {
  const facts = views.map(({ configSha256, isRefusing, template, listeners, stores }) => {
    const seen = listeners?.map((each) => ({ ...each, darkMs: isDarkForLong(each) }))
    return JSON.stringify([configSha256, isRefusing, template, seen, stores])
  })
  return new Set(facts)
}

function runningPodOf(object: KubeObject): RunningPod {
  const { apiVersion, kind, metadata, status } = object as Pod
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata
  const isRouter = componentOf({ metadata }) === 'router'
  // A sidecar may use the same exit code for something else.
  const router = status?.containerStatuses?.find((each) => each.name === 'router')
  const ended = router?.state?.terminated ?? router?.lastState?.terminated
  const log = isRouter && ended?.exitCode === invalidConfig ? (ended.message ?? '') : ''
  const isRunning = isRouter && status?.phase === 'Running' && deletionTimestamp === undefined
  return {
    ...{ apiVersion, kind },
    metadata: { name, namespace, uid, resourceVersion, labels },
    ip: isRunning ? (status.podIP ?? null) : null,
    refusedSha256: refusedLine.exec(log)?.groups?.['sha256'] ?? null,
  }
}
