// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../../operator/kube/client.ts'
import { listAll } from '../../operator/kube/reflector.ts'
import type { KubeObject, Resource } from '../../operator/kube/object.ts'
import {
  childKinds,
  horizontalPodAutoscalers,
  monitorKinds,
  rpcRouters,
  upstreamProviders,
} from '../../operator/resources/kinds.ts'
import {
  appliedAnnotation,
  childSelector,
  secretHashAnnotation,
} from '../../operator/resources/labels.ts'

type Json = Readonly<Record<string, unknown>>

/** They are keyed with the uid of a Secret, which differs from one run to another. */
const keyedByUid: ReadonlySet<string> = new Set([secretHashAnnotation])

/** Objects by kind and name. */
export type Picture = Readonly<Record<string, unknown>>

/**
 * The objects that the operator made in one namespace, without values that differ between runs: versions, times,
 * addresses, uids, the name of the namespace, and counts of an autoscaler. Equal pictures mean equal states.
 */
export async function pictureOf(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Picture> {
  const list = async <T extends KubeObject>(resource: Resource<T>, labelSelector?: string) =>
    (
      await listAll(
        client,
        resource,
        { namespace, ...(labelSelector !== undefined && { labelSelector }) },
        signal,
      )
    ).items
  const picture: Record<string, unknown> = {}
  const add = (object: KubeObject, shown: unknown) => {
    picture[`${object.kind} ${object.metadata.name}`] = JSON.parse(
      JSON.stringify(shown).replaceAll(namespace, 'NAMESPACE'),
      (key, value: unknown) => (keyedByUid.has(key) ? undefined : value),
    )
  }
  const isScaled = new Set(
    (await list(horizontalPodAutoscalers)).map(({ metadata }) => metadata.name),
  )
  for (const resource of childKinds) {
    if (monitorKinds.includes(resource)) continue
    for (const object of await list<KubeObject>(resource, childSelector))
      add(object, childOf(object, isScaled.has(object.metadata.name)))
  }
  for (const object of await list<KubeObject>(rpcRouters)) {
    const { spec } = object as KubeObject & { spec?: Json }
    add(object, statusOf(object, spec?.['autoscaling'] !== undefined))
  }
  for (const object of await list<KubeObject>(upstreamProviders))
    add(object, statusOf(object, false))
  return picture
}

/** An object without the additions of the server. */
function childOf(object: KubeObject, isScaled: boolean): unknown {
  const { status: _, metadata, ...rest } = object as KubeObject & { status?: unknown; spec?: Json }
  const { labels, ownerReferences = [], deletionTimestamp } = metadata
  const { spec = {} } = rest
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([name]) => name !== appliedAnnotation && name !== 'deployment.kubernetes.io/revision',
  )
  const dropped = [
    'clusterIP',
    'clusterIPs',
    'healthCheckNodePort',
    ...(isScaled ? ['replicas'] : []),
  ]
  return {
    ...rest,
    ...(rest.spec && { spec: without(spec, dropped) }),
    labels,
    annotations: Object.fromEntries(annotations),
    owners: ownerReferences.map(({ kind, name }) => `${kind} ${name}`),
    isGoing: deletionTimestamp !== undefined,
  }
}

const countsOfPods = [
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
  'unavailableReplicas',
]

function statusOf(object: KubeObject, isScaled: boolean): unknown {
  const { status = {}, metadata } = object as KubeObject & { status?: Json }
  const json = JSON.stringify(status, (key, value: unknown) => {
    if (key === 'lastTransitionTime') return undefined
    // Server-side apply keeps an empty list that was first, and drops one that had items: it is the same.
    if (Array.isArray(value) && value.length === 0) return undefined
    if (key === 'observedGeneration') return value === metadata.generation ? 'current' : 'behind'
    return value
  })
  const shown = JSON.parse(json) as Json
  if (!isScaled) return shown
  const conditions = (shown['conditions'] ?? []) as readonly Json[]
  return {
    ...without(shown, [...countsOfPods, 'summary', 'autoscaling']),
    conditions: conditions.map((each) => without(each, ['message'])),
  }
}

function without(object: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}
