// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { Controller } from '../kube/controller.ts'
import { type KubeObject, objectKey } from '../kube/object.ts'
import type { Change } from '../kube/store.ts'
import {
  configMaps,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  secrets,
} from '../resources/kinds.ts'
import { instanceKeys } from '../resources/labels.ts'
import { routersOf } from './child-stores.ts'
import type { ClusterCache } from './cluster-cache.ts'
import type { References } from './references.ts'

export interface TriggerOptions {
  readonly cache: ClusterCache
  readonly references: References
  readonly routers: Controller
  readonly providers: Controller
}

/** Debounces a Deployment's counts, which change often during a rollout. */
const countsSettleMs = 500

/** Enqueues the keys that a change affects. Our own writes cause no further write. */
export function connectTriggers({ cache, references, routers, providers }: TriggerOptions): void {
  cache.routers.subscribe((change) => {
    const { object, previous } = change
    routers.enqueue(objectKey(object.metadata))
    // Providers that the router no longer selects may still be waiting for its report.
    if (previous !== null && isIntentional(change))
      for (const provider of cache.providerKeysOf(previous)) providers.enqueue(provider)
  })
  cache.providers.subscribe((change) => {
    const { object, previous } = change
    providers.enqueue(objectKey(object.metadata))
    if (!isIntentional(change)) return
    for (const each of previous === null ? [object] : [object, previous])
      for (const router of cache.routersOf(each)) routers.enqueue(router)
  })
  cache.children.onChange((change, { plural }) => {
    const { object, previous } = change
    if (plural === horizontalPodAutoscalers.plural && isMeasured(change)) return
    // The change may have removed an owner, which is then affected too.
    const owners = [object, previous].flatMap((each) => (each === null ? [] : routersOf(each)))
    for (const router of new Set(owners)) {
      if (plural === deployments.plural) routers.queue.addAfter(router, countsSettleMs)
      else routers.enqueue(router)
    }
  })
  for (const resource of [secrets, configMaps])
    references.store(resource).subscribe(({ object }) => {
      const path = `${resource.plural} ${objectKey(object.metadata)}`
      const { readBy } = references
      for (const [key, read] of readBy.routers) if (read.has(path)) routers.enqueue(key)
      for (const [key, read] of readBy.providers) if (read.has(path)) providers.enqueue(key)
    })
  cache.replicaSets.subscribe(({ type, object, previous }) => {
    // A ReplicaSet without pods no longer needs its config and its Redis.
    const isDone = type === 'deleted' || (object.pods === 0 && (previous?.pods ?? 0) > 0)
    if (isDone) for (const key of instanceKeys(object)) routers.enqueue(key)
  })
}

/** Whether a change affects more than the status. */
function isIntentional({ type, object, previous }: Change<KubeObject>): boolean {
  if (previous === null || type === 'deleted') return true
  const [a, b] = [object.metadata, previous.metadata]
  return (
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(a.annotations, b.annotations)
  )
}

/** Whether only an autoscaler's metrics changed, which happens every 15 s. */
function isMeasured({ type, object, previous }: Change<KubeObject>): boolean {
  if (previous === null || type === 'deleted') return false
  const [now, before] = [object, previous].map((each) => {
    const { metadata, spec, status } = each as HorizontalPodAutoscaler
    const { resourceVersion: _, ...rest } = metadata
    return [rest, spec, status?.conditions, status?.desiredReplicas]
  })
  return isDeepStrictEqual(now, before)
}
