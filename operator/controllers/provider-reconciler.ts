// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { UpstreamProviderStatus } from '../api/status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { StatusWriter } from '../apply/status-writer.ts'
import type { ClusterCache } from '../cache/cluster-cache.ts'
import type { FleetObserver } from '../cache/fleet-observer.ts'
import type { References } from '../cache/references.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { ReconcileContext } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { type KubeObject, objectKey } from '../kube/object.ts'
import { upstreamProviders } from '../resources/kinds.ts'
import { conditionOccurrences } from '../status/condition-set.ts'
import { invalidProviderStatus } from '../status/invalid-status.ts'
import { upstreamOf } from '../status/provider-health.ts'
import { type RouterResult, providerStatus } from '../status/provider-status.ts'
import type { ReferenceData } from '../translate/reference-data.ts'
import type { ChainIdOf } from '../translate/router-document.ts'
import type { TranslateInput } from '../translate/translate-input.ts'
import { validateProvider } from '../translate/translate.ts'
import type { Translation } from '../translate/translation.ts'

export interface ProviderReconcilerOptions {
  readonly client: Pick<KubeClient, 'apply'>
  readonly cache: ClusterCache
  readonly references: References
  readonly results: ProviderResults
  readonly fleets: Pick<FleetObserver, 'observations'> | null
  readonly events: Pick<EventRecorder, 'record'>
  readonly bundled: TranslateInput['bundled']
  readonly chainIdOf: ChainIdOf
  readonly allowLinkLocal: boolean
  readonly clock: Clock
}

/** Writes the results of routers into the status of the providers that they select. */
export class ProviderReconciler {
  readonly #options: ProviderReconcilerOptions
  readonly #statuses: StatusWriter<UpstreamProviderStatus>

  constructor(options: ProviderReconcilerOptions) {
    const { client, cache, clock, events } = options
    this.#options = options
    this.#statuses = new StatusWriter(client, upstreamProviders, cache.providers, clock, events)
  }

  readonly reconcile = async (key: string, { signal }: ReconcileContext): Promise<void> => {
    const { cache, references, events, clock } = this.#options
    const object = cache.providers.get(key)
    if (object === undefined) references.readBy.providers.delete(key)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
    const routers = this.#resultsOf(key, object)
    // The status stays until all routers have reported; each report enqueues the provider again.
    if (routers === null) return
    const now = rfc3339(clock.wallMs())
    const { value, faults } = cache.provider(object)
    const latest: KubeObject & { status?: UpstreamProviderStatus | undefined } =
      this.#statuses.latest(value ?? object)
    const status =
      value === null
        ? invalidProviderStatus({ object: latest, faults, now }, routers)
        : await this.#validate(this.#statuses.latest(value), routers, now, signal)
    const occurrences = conditionOccurrences('InvalidProvider', latest.status, status)
    if (await this.#statuses.write(latest, status, signal))
      for (const each of occurrences) events.record({ ...each, regarding: object })
  }

  async #validate(
    provider: UpstreamProvider,
    routers: readonly RouterResult[],
    now: string,
    signal: AbortSignal,
  ): Promise<UpstreamProviderStatus> {
    const { references, allowLinkLocal, chainIdOf } = this.#options
    const bundled = routers.length === 0 ? this.#options.bundled : null
    const run = (data: ReferenceData) => validateProvider(provider, data, bundled, allowLinkLocal)
    const validation = await references.translate('providers', provider, run, signal)
    const upstream = upstreamOf(provider, chainIdOf)
    return providerStatus({ provider, upstream, ...validation, routers, now })
  }

  /** Returns the routers' results for the current provider; null until all have reported. */
  #resultsOf(key: string, provider: KubeObject): readonly RouterResult[] | null {
    const { cache, results, fleets } = this.#options
    const { uid, generation } = provider.metadata
    // A router that is being deleted no longer reports.
    const routers = cache.routersOf(provider).filter((router) => !cache.isLeaving(router))
    const current = routers.flatMap((router) => {
      const result = results.get(router, key)
      const isCurrent = result?.providerUid === uid && result?.generation === generation
      const observations = fleets?.observations(router) ?? null
      return result !== null && isCurrent ? [{ ...result, observations }] : []
    })
    return current.length === routers.length ? current : null
  }
}

/** A router's result for one generation of a provider. */
export interface ProviderResult extends Omit<RouterResult, 'observations'> {
  readonly providerUid: string
  readonly generation: number
}

/**
 * Returns a router's results for its providers, by key.
 * @param selected the providers that were translated
 * @param isBlocked whether the pods stay on their current config
 */
export function resultsOf(
  router: string,
  { providers }: Translation,
  selected: readonly KubeObject[],
  isBlocked: boolean,
): ReadonlyMap<string, ProviderResult> {
  const translated = new Map(providers.map((each) => [each.provider, each]))
  const results = new Map<string, ProviderResult>()
  for (const { metadata } of selected) {
    const provider = translated.get(metadata.name)
    if (provider === undefined) continue
    results.set(objectKey(metadata), {
      router,
      refusals: provider.refusals,
      usage: isBlocked ? 'blocked' : provider.isUsed ? 'used' : 'excluded',
      providerUid: metadata.uid ?? '',
      generation: metadata.generation ?? 0,
    })
  }
  return results
}

/** Results of routers for their providers, which the provider controller reads. */
export class ProviderResults {
  /** Results by the keys of router and provider. */
  readonly #byRouter = new Map<string, ReadonlyMap<string, ProviderResult>>()

  /** @returns the keys of the providers whose result changed */
  set(router: string, results: ReadonlyMap<string, ProviderResult>): readonly string[] {
    const before = this.#byRouter.get(router) ?? new Map<string, ProviderResult>()
    this.#byRouter.set(router, results)
    const all = new Set([...before.keys(), ...results.keys()])
    return [...all].filter((key) => !isDeepStrictEqual(before.get(key), results.get(key)))
  }

  /** @returns the keys of the router's providers */
  forget(router: string): readonly string[] {
    const before = this.#byRouter.get(router)
    this.#byRouter.delete(router)
    return [...(before?.keys() ?? [])]
  }

  get(router: string, provider: string): ProviderResult | null {
    return this.#byRouter.get(router)?.get(provider) ?? null
  }
}
