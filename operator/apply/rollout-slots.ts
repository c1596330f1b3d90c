// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../kube/clock.ts'
import type { KubeObject } from '../kube/object.ts'
import {
  configMaps,
  type Deployment,
  services,
  type StatefulSet,
  statefulSets,
} from '../resources/kinds.ts'
import type { WantedObjects } from './apply-order.ts'

type WithPods = Deployment | StatefulSet

/** Delay until a router that waits for a slot tries again. */
export const slotRequeueMs = 5_000

/** Longest time a restarting Redis occupies a slot, since a StatefulSet never reports a failure. */
const restartMs = 600_000

/** Limits how many routers replace their pods at a time, say after an operator upgrade. */
export class RolloutSlots {
  readonly #most: number
  /** Routers whose apply is in flight. */
  readonly #starting = new Set<string>()
  /** Start times of recent rollouts. */
  readonly #startedMs = new Map<string, number>()
  readonly #clock: Pick<Clock, 'nowMs'>

  constructor(most: number, clock: Pick<Clock, 'nowMs'>) {
    this.#most = most
    this.#clock = clock
  }

  /** Returns routers whose Redis may still be restarting. */
  recentlyStarted(): readonly string[] {
    const sinceMs = this.#clock.nowMs() - restartMs
    for (const [router, ms] of this.#startedMs) if (ms < sinceMs) this.#startedMs.delete(router)
    return [...this.#startedMs.keys()]
  }

  /**
   * Runs `begin`, which replaces the pods of a router, if a slot is free.
   * @param rolling routers with a rollout in progress, as the cluster reports it
   * @returns null if no slot is free
   */
  async take<T>(
    router: string,
    rolling: readonly string[],
    begin: () => Promise<T>,
  ): Promise<T | null> {
    const others = new Set([...rolling, ...this.#starting])
    others.delete(router)
    if (others.size >= this.#most) return null
    this.#starting.add(router)
    this.#startedMs.set(router, this.#clock.nowMs())
    try {
      return await begin()
    } finally {
      this.#starting.delete(router)
    }
  }
}

/**
 * Returns the objects to apply while a router waits for a slot: those that replace no pod and work
 * with the current pods. That includes config and Service if the pods can reload the config.
 */
export function withoutNewPods(
  wanted: WantedObjects,
  presentOf: (object: KubeObject) => WithPods | null,
): WantedObjects {
  const isSame = wanted.fixedHash === wanted.current
  const deferred: readonly string[] = isSame ? [] : [configMaps.kind, services.kind]
  const withPresentPods = (object: KubeObject): KubeObject => {
    const present = presentOf(object)
    if (present === null) return object
    const { metadata, spec, ...rest } = object as WithPods
    const named = {
      labels: entriesOf(present.metadata.labels, metadata.labels),
      annotations: entriesOf(present.metadata.annotations, metadata.annotations),
    }
    return {
      ...rest,
      metadata: { ...metadata, ...(!isSame && named) },
      spec: { ...spec, template: present.spec.template },
    } as WithPods
  }
  const objects = wanted.objects
    // An existing Redis stays, since its storage cannot change.
    .filter((each) => each.kind !== statefulSets.kind || presentOf(each) === null)
    .filter(({ kind }) => !deferred.includes(kind))
    .map(withPresentPods)
  return { ...wanted, objects, isPartial: true }
}

type Texts = Readonly<Record<string, string>>

/** Returns the current values of the wanted keys. */
function entriesOf(present: Texts = {}, wanted: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(present).filter(([name]) => name in wanted))
}
