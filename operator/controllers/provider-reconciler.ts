// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { UpstreamProviderStatus } from '../api/status.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { Outcome, ReconcileContext } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { type KubeObject, refOf } from '../kube/object.ts'
import { invalidProviderStatus } from '../status/invalid-status.ts'
import { providerOccurrences } from '../status/occurrences.ts'
import { type RouterVerdict, providerStatus } from '../status/provider-status.ts'
import { judgeProvider } from '../translate/judge-provider.ts'
import { referencesOfProvider } from '../translate/references-of.ts'
import type { References } from './references.ts'
import type { StatusWriter } from './status-writer.ts'
import type { ProviderResult, ProviderResults } from './provider-results.ts'
import type { World } from './world.ts'

export interface ProviderReconcilerParts {
  readonly world: World
  readonly references: References
  readonly statuses: StatusWriter<UpstreamProviderStatus>
  readonly results: ProviderResults
  readonly events: Pick<EventRecorder, 'record'>
  readonly chains: KnownChains
  readonly clock: Clock
  /** Whether a router's turn is still to come, or goes on. */
  readonly isInWork: (router: string) => boolean
}

/** How long after its turn a router may take to report on a provider, before the status says that it is waited for. */
const pendingAfterMs = 60_000

/** Says in the status of one provider what the routers that select it made of it. */
export class ProviderReconciler {
  readonly #parts: ProviderReconcilerParts
  /** Since when a provider, by key, waits for the report of a router. */
  readonly #waitingSinceMs = new Map<string, number>()

  constructor(parts: ProviderReconcilerParts) {
    this.#parts = parts
  }

  readonly reconcile = async (key: string, { signal }: ReconcileContext): Promise<Outcome> => {
    const { world, statuses, events, clock } = this.#parts
    const object = world.providers.get(key)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      this.#waitingSinceMs.delete(key)
      return {}
    }
    const now = rfc3339(clock.wallMs())
    const { value, faults } = world.provider(object)
    if (value === null) {
      const latest: KubeObject & { status?: UpstreamProviderStatus } = statuses.latest(object)
      const outcomes = this.#outcomes(key, latest, this.#routersOf(latest))
      const status = invalidProviderStatus({ object: latest, faults, now }, outcomes)
      const occurrences = providerOccurrences(latest, status)
      if (await statuses.write(object, status, signal))
        for (const told of occurrences) events.record({ ...told, regarding: object })
      return {}
    }
    return this.#reconcile(key, statuses.latest(value), now, signal)
  }

  async #reconcile(
    key: string,
    provider: UpstreamProvider,
    now: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { world, references, statuses, events, chains } = this.#parts
    const { metadata } = provider
    const routers = this.#routersOf(provider)
    const outcomes = this.#outcomes(key, provider, routers)
    const silent = routers.filter((_, index) => outcomes[index]?.isPending)
    // Such a router goes on as it is, so what was said of it holds.
    const isJudged = provider.status?.observedGeneration === metadata.generation
    if (isJudged && silent.some((router) => world.isUnreadable(router))) return {}
    const waitMs = this.#waitMs(key, silent)
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const names = referencesOfProvider(provider)
    const data = await references.read(metadata.namespace, names, signal)
    const unused = routers.length === 0 ? chains : null
    const { refusals, dangling, notes } = judgeProvider(provider, data, unused)
    const status = providerStatus({ provider, refusals, dangling, notes, routers: outcomes, now })
    const occurrences = providerOccurrences(provider, status)
    if (await statuses.write(provider, status, signal))
      for (const told of occurrences) events.record({ ...told, regarding: provider })
    return {}
  }

  /** One that is on its way out gives its word no more. */
  #routersOf(provider: KubeObject): readonly string[] {
    const { world } = this.#parts
    return world.routersOf(provider).filter((router) => !world.isLeaving(router))
  }

  #outcomes(
    key: string,
    provider: KubeObject,
    routers: readonly string[],
  ): readonly RouterVerdict[] {
    return routers.map((router) => {
      const outcome = this.#parts.results.get(router, key)
      return outcome !== null && isOf(provider, outcome) ? outcome : pending(router)
    })
  }

  /** How long routers that have not reported are still waited for: the provider comes again when they have. */
  #waitMs(key: string, silent: readonly string[]): number {
    if (silent.length === 0) {
      this.#waitingSinceMs.delete(key)
      return 0
    }
    const nowMs = this.#parts.clock.nowMs()
    const isEarly = silent.some(this.#parts.isInWork)
    const sinceMs = (isEarly ? undefined : this.#waitingSinceMs.get(key)) ?? nowMs
    this.#waitingSinceMs.set(key, sinceMs)
    return sinceMs + pendingAfterMs - nowMs
  }
}

function isOf({ metadata }: KubeObject, outcome: ProviderResult): boolean {
  return outcome.providerUid === metadata.uid && outcome.generation === metadata.generation
}

function pending(router: string): RouterVerdict {
  const { name } = refOf(router)
  return { router: name, isPending: true, refusals: [], fate: 'left-out' }
}
