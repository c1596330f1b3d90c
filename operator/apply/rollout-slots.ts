// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  configMaps,
  type Deployment,
  deployments,
  services,
  statefulSets,
} from '../resources/kinds.ts'
import type { WantedObjects } from './apply-order.ts'

/** Retry interval of a router that waits for a slot. */
export const slotRequeueMs = 5_000

/** Limits how many routers replace their pods at a time, such as after an operator upgrade. */
export class RolloutSlots {
  readonly #most: number
  /** Routers that are being applied. */
  readonly #starting = new Set<string>()

  constructor(most: number) {
    this.#most = most
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
    try {
      return await begin()
    } finally {
      this.#starting.delete(router)
    }
  }
}

/**
 * Returns what to apply while a router waits for a slot: objects that replace no pod and work with
 * the current pods. That includes config and Service if the pods can reload the config.
 */
export function withoutNewPods(wanted: WantedObjects, present: Deployment): WantedObjects {
  const isSame = wanted.fixedHash === wanted.current
  const deferred: readonly string[] = [
    statefulSets.kind,
    ...(isSame ? [] : [configMaps.kind, services.kind]),
  ]
  const withPresentPods = (deployment: Deployment): Deployment => {
    const { metadata, spec, ...rest } = deployment
    const named = {
      labels: entriesOf(present.metadata.labels, metadata.labels),
      annotations: entriesOf(present.metadata.annotations, metadata.annotations),
    }
    return {
      ...rest,
      metadata: { ...metadata, ...(!isSame && named) },
      // The present rollout stays stopped while the next one waits.
      spec: {
        ...spec,
        template: present.spec.template,
        ...(present.spec.paused && { paused: true }),
      },
    }
  }
  const objects = wanted.objects
    .filter(({ kind }) => !deferred.includes(kind))
    .map((each) => (each.kind === deployments.kind ? withPresentPods(each as Deployment) : each))
  return { ...wanted, objects, isPartial: true }
}

type Texts = Readonly<Record<string, string>>

/** Returns the current values of the wanted keys. */
function entriesOf(present: Texts = {}, wanted: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(present).filter(([name]) => name in wanted))
}
