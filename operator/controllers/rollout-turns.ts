// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { configMaps, type Deployment, deployments, services } from '../resources/kinds.ts'
import type { WantedObjects } from './apply-order.ts'

/** How soon a router that waits for its turn looks again. */
export const turnAgainMs = 5_000

/** Lets so many routers replace their pods at a time, and no more: an upgrade of the operator concerns all of them. */
export class RolloutTurns {
  readonly #most: number
  /** Those whose new pods are being asked for. */
  readonly #beginning = new Set<string>()

  constructor(most: number) {
    this.#most = most
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
    const others = new Set([...rolling, ...this.#beginning])
    others.delete(router)
    if (others.size >= this.#most) return null
    this.#beginning.add(router)
    try {
      return await begin()
    } finally {
      this.#beginning.delete(router)
    }
  }
}

/**
 * What is applied of a router that waits for its turn: all that replaces no pod, and that the present pods can use. The
 * config and the Service are theirs as long as what they were made with is the same.
 */
export function withoutNewPods(wanted: WantedObjects, present: Deployment): WantedObjects {
  const isSame = wanted.configHash === wanted.current
  const left: readonly string[] = isSame ? [] : [configMaps.kind, services.kind]
  const withPresentPods = ({ metadata, spec, ...rest }: Deployment): Deployment => ({
    ...rest,
    metadata: isSame
      ? metadata
      : {
          ...metadata,
          labels: presentOf(metadata.labels, present.metadata.labels),
          annotations: presentOf(metadata.annotations, present.metadata.annotations),
        },
    spec: { ...spec, template: present.spec.template },
  })
  return {
    ...wanted,
    isInPart: true,
    objects: wanted.objects
      .filter(({ kind }) => !left.includes(kind))
      .map((each) => (each.kind === deployments.kind ? withPresentPods(each as Deployment) : each)),
  }
}

type Texts = Readonly<Record<string, string>>

function presentOf(wanted: Texts = {}, present: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(present).filter(([name]) => name in wanted))
}
