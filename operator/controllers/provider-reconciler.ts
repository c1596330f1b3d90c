// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { UpstreamProviderStatus } from '../api/status.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { ReconcileContext } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import type { KubeObject } from '../kube/object.ts'
import { invalidProviderStatus } from '../status/invalid-status.ts'
import { providerOccurrences } from '../status/occurrences.ts'
import { type RouterVerdict, providerStatus } from '../status/provider-status.ts'
import { judgeProvider } from '../translate/judge-provider.ts'
import { referencesOfProvider } from '../translate/references-of.ts'
import type { References } from './references.ts'
import type { StatusWriter } from './status-writer.ts'
import type { ProviderResults } from './provider-results.ts'
import type { World } from './world.ts'

export interface ProviderReconcilerParts {
  readonly world: World
  readonly references: References
  readonly statuses: StatusWriter<UpstreamProviderStatus>
  readonly results: ProviderResults
  readonly events: Pick<EventRecorder, 'record'>
  readonly chains: KnownChains
  readonly clock: Clock
}

/** Says in the status of one provider what the routers that select it made of it. */
export class ProviderReconciler {
  readonly #parts: ProviderReconcilerParts

  constructor(parts: ProviderReconcilerParts) {
    this.#parts = parts
  }

  readonly reconcile = async (key: string, { signal }: ReconcileContext): Promise<void> => {
    const { world, statuses, events, clock } = this.#parts
    const object = world.providers.get(key)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
    const routers = this.#verdicts(key, object)
    // What was said of it holds until the last of them has reported, which brings it here again.
    if (routers === null) return
    const now = rfc3339(clock.wallMs())
    const { value, faults } = world.provider(object)
    const latest: KubeObject & { status?: UpstreamProviderStatus | undefined } = statuses.latest(
      value ?? object,
    )
    const status =
      value === null
        ? invalidProviderStatus({ object: latest, faults, now }, routers)
        : await this.#judge(statuses.latest(value), routers, now, signal)
    const occurrences = providerOccurrences(latest, status)
    if (await statuses.write(latest, status, signal))
      for (const told of occurrences) events.record({ ...told, regarding: object })
  }

  async #judge(
    provider: UpstreamProvider,
    routers: readonly RouterVerdict[],
    now: string,
    signal: AbortSignal,
  ): Promise<UpstreamProviderStatus> {
    const { references, chains } = this.#parts
    const names = referencesOfProvider(provider)
    const data = await references.read(provider.metadata.namespace, names, signal)
    const judged = judgeProvider(provider, data, routers.length === 0 ? chains : null)
    return providerStatus({ provider, ...judged, routers, now })
  }

  /** What the routers that select a provider made of it as it is now; null until each of them has reported. */
  #verdicts(key: string, provider: KubeObject): readonly RouterVerdict[] | null {
    const { world, results } = this.#parts
    const { uid, generation } = provider.metadata
    // One that is on its way out reports no more.
    const routers = world.routersOf(provider).filter((router) => !world.isLeaving(router))
    const verdicts = routers.flatMap((router) => {
      const result = results.get(router, key)
      const isCurrent = result?.providerUid === uid && result?.generation === generation
      return result !== null && isCurrent ? [result] : []
    })
    return verdicts.length === routers.length ? verdicts : null
  }
}
