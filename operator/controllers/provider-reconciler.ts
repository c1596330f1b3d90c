// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { UpstreamProviderStatus } from '../api/upstream-provider-status.ts'
import type { Clock } from '../kube/clock.ts'
import type { ReconcileContext } from '../kube/controller.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { invalidProviderStatus } from '../status/invalid-router-status.ts'
import { providerOccurrences } from '../status/occurrences.ts'
import { providerStatus } from '../status/provider-status.ts'
import { judgeProvider } from '../translate/judge-provider.ts'
import type { StatusWriter } from './status-writer.ts'
import type { Verdicts } from './verdicts.ts'
import type { World } from './world.ts'

export interface ProviderReconcilerParts {
  readonly world: World
  readonly statuses: StatusWriter<UpstreamProviderStatus>
  readonly verdicts: Verdicts
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
    const { world, statuses, clock } = this.#parts
    const object = world.providers.get(key)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
    const now = new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, 'Z')
    const { value, faults } = world.provider(object)
    if (value === null) {
      const status = invalidProviderStatus(object, faults, now)
      await statuses.write(object, status, signal)
      return
    }
    await this.#reconcile(key, statuses.latest(value), now, signal)
  }

  async #reconcile(
    key: string,
    provider: UpstreamProvider,
    now: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { world, statuses, verdicts, events, chains } = this.#parts
    const { metadata } = provider
    const routers = world.routersOf(provider)
    const outcomes = routers
      .map((router) => verdicts.get(router, key))
      .filter((outcome) => outcome !== null)
      .filter(
        (each) => each.providerUid === metadata.uid && each.generation === metadata.generation,
      )
    // A router that has not looked at it yet will say when it has.
    if (outcomes.length < routers.length) return
    const data = world.dataOf(metadata.namespace)
    const { refusals, dangling } = judgeProvider(
      provider,
      data,
      routers.length === 0 ? chains : null,
    )
    const status = providerStatus({ provider, refusals, dangling, routers: outcomes, now })
    const occurrences = providerOccurrences(provider, status)
    if (await statuses.write(provider, status, signal))
      for (const told of occurrences) events.record({ ...told, regarding: provider })
  }
}
