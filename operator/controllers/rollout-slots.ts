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

/** How soon a router that waits for its turn looks again. */
export const slotRequeueMs = 5_000

/**
 * A Redis that does not start keeps no router waiting for longer: a StatefulSet does not say that
 * it has given up.
 */
const restartMs = 600_000

/**
 * Lets so many routers replace their pods at a time, and no more: an upgrade of the operator
 * concerns all of them.
 */
export class RolloutSlots {
  readonly #most: number
  /** Those whose new pods are being asked for. */
  readonly #starting = new Set<string>()
  /** When those of the last minutes began. */
  readonly #startedMs = new Map<string, number>()
  readonly #clock: Pick<Clock, 'nowMs'>

  constructor(most: number, clock: Pick<Clock, 'nowMs'>) {
    this.#most = most
    this.#clock = clock
  }

  /** Those whose Redis may be restarting. */
  recentlyStarted(): readonly string[] {
    const sinceMs = this.#clock.nowMs() - restartMs
    for (const [router, ms] of this.#startedMs) if (ms < sinceMs) this.#startedMs.delete(router)
    return [...this.#startedMs.keys()]
  }

  /**
   * Runs `begin`, which asks for new pods of a router, unless as many others have theirs replaced.
   * @param rolling others whose rollout is under way, as the cluster reports it
   * @returns null when it has to wait
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
 * What is applied of a router that waits for its turn: all that replaces no pod, and that the
 * present pods can use. The config and the Service are theirs as long as what they were made with
 * is the same.
 */
export function withoutNewPods(
  wanted: WantedObjects,
  presentOf: (object: KubeObject) => WithPods | null,
): WantedObjects {
  const isSame = wanted.fixedHash === wanted.current
  const left: readonly string[] = isSame ? [] : [configMaps.kind, services.kind]
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
    // The storage of a Redis, which cannot change, is that of its pod.
    .filter((each) => each.kind !== statefulSets.kind || presentOf(each) === null)
    .filter(({ kind }) => !left.includes(kind))
    .map(withPresentPods)
  return { ...wanted, objects, isInPart: true }
}

type Texts = Readonly<Record<string, string>>

/** The present values of what is wanted. */
function entriesOf(present: Texts = {}, wanted: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(present).filter(([name]) => name in wanted))
}
