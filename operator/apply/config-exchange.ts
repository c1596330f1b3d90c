// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { revisionOf } from '../cache/child-stores.ts'
import type { FleetObserver } from '../cache/fleet-observer.ts'
import type { Clock } from '../kube/clock.ts'
import { lastGoodName } from '../resources/deployment.ts'
import { type ConfigMap, configMaps, type Deployment } from '../resources/kinds.ts'
import {
  contentHashAnnotation,
  fixedHashAnnotation,
  goodHashAnnotation,
  refusedAnnotation,
} from '../resources/labels.ts'
import type { PodView } from '../status/fleet-view.ts'
import { configFile, digest } from '../translate/object-names.ts'
import { contentHashOf, type RenderedConfig } from '../translate/rendered-config.ts'
import { belongsTo, type ChildApplier } from './child-applier.ts'

type GoodConfig = Pick<RenderedConfig, 'fixedHash' | 'data'>

/** The config for the pods of a router. */
export interface Exchange {
  /** The desired config, or the last good one if pods refuse it. */
  readonly config: RenderedConfig
  /** The last config that a pod was observed to serve; null if none is known. */
  readonly good: GoodConfig | null
  /** Known pods that refuse the desired config; null if none does. */
  readonly refusedBy: readonly string[] | null
}

export interface ConfigExchangeOptions {
  readonly children: Pick<ChildApplier, 'latest'>
  /** Null: the operator does not observe pods, and never rolls a config back. */
  readonly fleets: Pick<FleetObserver, 'observations' | 'ended'> | null
  readonly clock: Pick<Clock, 'wallMs'>
}

/** The kubelet updates the files of a running pod within this time. */
const updateMs = 120_000

/**
 * Rolls back a config that pods refuse, so new pods can start. A separate ConfigMap stores the last
 * good config. Annotations of the Deployment have its hash and identify the refused config, so that
 * write access to ConfigMaps alone cannot choose a config.
 */
export class ConfigExchange {
  readonly #options: ConfigExchangeOptions
  /** By router: the last applied config, and when this operator first observed it. */
  readonly #applied = new Map<string, { readonly mark: string; readonly sinceMs: number }>()

  constructor(options: ConfigExchangeOptions) {
    this.#options = options
  }

  forget(key: string): void {
    this.#applied.delete(key)
  }

  /** @param present the current Deployment; null if there is none */
  of(key: string, router: RpcRouter, config: RenderedConfig, present: Deployment | null): Exchange {
    const { fleets } = this.#options
    if (fleets === null || present === null) return { config, good: null, refusedBy: null }
    const { annotations = {} } = present.metadata
    const pods = fleets.observations(key).at(-1)?.pods ?? []
    const isApplied =
      annotations[contentHashAnnotation] === config.contentHash &&
      revisionOf(present).fixedHash === config.fixedHash
    const isServed = isApplied && pods.some((each) => serves(each, config))
    const good = isServed ? config : this.#storedGood(router, annotations)
    if (good === null) return { config, good, refusedBy: null }

    const marks = { [goodHashAnnotation]: hashOf(good) }
    // The mark includes the keys that pods reload, since the config may work with a new key.
    const mark = `${config.contentHash}-${config.keyHash}`
    const wasRefused = annotations[refusedAnnotation] === mark
    const refusedBy = isApplied ? this.#refusing(key, mark, config, pods) : []
    const isRefused = !isServed && (wasRefused || refusedBy.length > 0)
    const goodText = good.data[configFile] ?? ''
    if (!isRefused || good.fixedHash !== config.fixedHash || hashOf(good) === hashOf(config))
      return { config: { ...config, marks }, good, refusedBy: null }
    const restored = {
      ...config,
      data: good.data,
      contentHash: contentHashOf(goodText),
      marks: { ...marks, [refusedAnnotation]: mark },
    }
    return { config: restored, good, refusedBy }
  }

  #storedGood(router: RpcRouter, annotations: Readonly<Record<string, string>>): GoodConfig | null {
    const ref = { namespace: router.metadata.namespace, name: lastGoodName(router) }
    const found = this.#options.children.latest<ConfigMap>(configMaps, ref)
    if (found === null || !belongsTo(found, router)) return null
    const fixedHash = found.metadata.annotations?.[fixedHashAnnotation] ?? ''
    const good = { fixedHash, data: found.data ?? {} }
    return hashOf(good) === annotations[goodHashAnnotation] ? good : null
  }

  /** Returns the pods that refuse the applied config, not those that refused an earlier one. */
  #refusing(
    key: string,
    mark: string,
    config: RenderedConfig,
    pods: readonly PodView[],
  ): readonly string[] {
    const known = this.#applied.get(key)
    const sinceMs = known?.mark === mark ? known.sinceMs : this.#options.clock.wallMs()
    this.#applied.set(key, { mark, sinceMs })
    const refusing = pods.filter(
      ({ refusal = null }) =>
        refusal !== null &&
        (refusal.sha256?.startsWith(config.contentHash) ?? refusal.atMs > sinceMs),
    )
    // A newer pod starts with the config; an older one gets it when the kubelet updates its files.
    const ended = (this.#options.fleets?.ended(key) ?? []).filter(
      ({ createdMs, endedMs }) => createdMs > sinceMs || endedMs > sinceMs + updateMs,
    )
    return [...new Set([...refusing, ...ended].map(({ pod }) => pod))]
  }
}

function serves({ configSha256 }: PodView, { contentHash }: RenderedConfig): boolean {
  return configSha256.startsWith(contentHash)
}

function hashOf({ fixedHash, data }: GoodConfig): string {
  const texts = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return digest([fixedHash, ...texts.flat()])
}
