// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { revisionOf } from '../cache/child-stores.ts'
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

export interface Exchange {
  /** The desired config, or the last good one if pods refuse the desired one. */
  readonly config: RenderedConfig
  /** The last config that a pod was observed to serve; null if none is known. */
  readonly good: GoodConfig | null
  /** Known pods that refuse the desired config; null if there are none. */
  readonly refusedBy: readonly string[] | null
}

/**
 * Rolls back a config that pods refuse, so that new pods can start. A separate ConfigMap stores the
 * last good config. Annotations of the Deployment have its hash and identify the refused config, so
 * that write access to ConfigMaps alone cannot select a config.
 * @param present the current Deployment
 * @param pods the last observation of its pods, and the pods, even dead ones, that refuse a config
 */
export function exchange(
  children: Pick<ChildApplier, 'latest'>,
  router: RpcRouter,
  config: RenderedConfig,
  present: Deployment,
  {
    pods,
    refusals,
  }: {
    readonly pods: readonly PodView[]
    readonly refusals: readonly Pick<PodView, 'pod' | 'refusedSha256'>[]
  },
): Exchange {
  const { annotations = {} } = present.metadata
  const isApplied =
    annotations[contentHashAnnotation] === config.contentHash &&
    revisionOf(present).fixedHash === config.fixedHash
  const isServed = isApplied && pods.some((each) => serves(each, config))
  const good = isServed ? config : storedGood(children, router, annotations)
  if (good === null) return { config, good, refusedBy: null }

  const marks = { [goodHashAnnotation]: hashOf(good) }
  // The mark includes the keys that pods reload, because the config may work with a new key.
  const mark = `${config.contentHash}-${config.keyHash}`
  const wasRefused = annotations[refusedAnnotation] === mark
  const refusing = isApplied ? refusals.filter((each) => refuses(each, config)) : []
  const isRefused = !isServed && (wasRefused || refusing.length > 0)
  const goodText = good.data[configFile] ?? ''
  if (!isRefused || good.fixedHash !== config.fixedHash || hashOf(good) === hashOf(config))
    return { config: { ...config, marks }, good, refusedBy: null }
  const restored = {
    ...config,
    data: good.data,
    contentHash: contentHashOf(goodText),
    marks: { ...marks, [refusedAnnotation]: mark },
  }
  return { config: restored, good, refusedBy: [...new Set(refusing.map(({ pod }) => pod))] }
}

function storedGood(
  children: Pick<ChildApplier, 'latest'>,
  router: RpcRouter,
  annotations: Readonly<Record<string, string>>,
): GoodConfig | null {
  const ref = { namespace: router.metadata.namespace, name: lastGoodName(router) }
  const found = children.latest<ConfigMap>(configMaps, ref)
  if (found === null || !belongsTo(found, router)) return null
  const fixedHash = found.metadata.annotations?.[fixedHashAnnotation] ?? ''
  const good = { fixedHash, data: found.data ?? {} }
  return hashOf(good) === annotations[goodHashAnnotation] ? good : null
}

function serves({ configSha256 }: PodView, { contentHash }: RenderedConfig): boolean {
  return configSha256.startsWith(contentHash)
}

/** Whether a pod refuses this config rather than an earlier one, and will not retry it. */
function refuses(
  { refusedSha256 }: Pick<PodView, 'refusedSha256'>,
  { contentHash }: RenderedConfig,
): boolean {
  return refusedSha256?.startsWith(contentHash) === true
}

function hashOf({ fixedHash, data }: GoodConfig): string {
  const texts = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return digest([fixedHash, ...texts.flat()])
}
