// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { KubeClient } from '../../operator/kube/client.ts'
import { listAll } from '../../operator/kube/reflector.ts'
import type { KubeObject, Resource } from '../../operator/kube/object.ts'
import {
  childKinds,
  configMaps,
  horizontalPodAutoscalers,
  monitorKinds,
  rpcRouters,
  upstreamProviders,
} from '../../operator/resources/kinds.ts'
import {
  appliedAnnotation,
  childSelector,
  fixedHashAnnotation,
  secretHashAnnotation,
} from '../../operator/resources/labels.ts'

type Json = Readonly<Record<string, unknown>>

/** Objects by kind and name. */
export type Picture = Readonly<Record<string, unknown>>

/**
 * The operator's objects in one namespace, without values that vary between runs: versions, times,
 * addresses, uids, the name of the namespace, and replica counts of an autoscaler. Equal pictures
 * mean equal states.
 */
export async function pictureOf(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Picture> {
  const list = async <T extends KubeObject>(resource: Resource<T>, labelSelector = '') =>
    (await listAll(client, resource, { namespace, labelSelector }, signal)).items
  const picture: Record<string, unknown> = {}
  const hashes = hashesIn(await list<KubeObject>(configMaps, childSelector), namespace)
  const masked = (text: string) =>
    [...hashes].reduce(
      (done, [hash, own]) => done.replaceAll(hash, own),
      text.replaceAll(namespace, 'NAMESPACE'),
    )
  const add = (object: KubeObject, shown: unknown) => {
    picture[masked(`${object.kind} ${object.metadata.name}`)] = JSON.parse(
      masked(JSON.stringify(shown)),
      // The hash is keyed with the uid of a Secret, which varies between runs.
      (key, value: unknown) => (key === secretHashAnnotation ? undefined : value),
    )
  }
  const scalers = await list(horizontalPodAutoscalers)
  const isScaled = new Set(scalers.map(({ metadata }) => metadata.name))
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

/** Hashes of configs, each with the hash that it would have without the name of the namespace. */
function hashesIn(
  configs: readonly (KubeObject & { readonly data?: Json })[],
  namespace: string,
): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>()
  for (const { metadata, data = {} } of configs) {
    const text = data['router.yml'] as string
    const own = hashOf(text.replaceAll(namespace, 'NAMESPACE'))
    hashes.set(hashOf(text), own)
    hashes.set(metadata.annotations?.[fixedHashAnnotation] as string, own)
  }
  return hashes
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** An object without fields that the server adds. */
function childOf(object: KubeObject, isScaled: boolean): unknown {
  const { status: _, metadata, ...rest } = object as KubeObject & { status?: unknown; spec?: Json }
  const { labels, ownerReferences = [], deletionTimestamp } = metadata
  const { spec = {} } = rest
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([name]) => name !== appliedAnnotation && name !== 'deployment.kubernetes.io/revision',
  )
  const ofServer = /^(clusterIPs?|healthCheckNodePort)$/
  const own = without(spec, isScaled ? new RegExp(`${ofServer.source}|^replicas$`) : ofServer)
  return {
    ...rest,
    ...(rest.spec && { spec: own }),
    labels,
    annotations: Object.fromEntries(annotations),
    owners: ownerReferences.map(({ kind, name }) => `${kind} ${name}`),
    isGoing: deletionTimestamp !== undefined,
  }
}

function statusOf(object: KubeObject, isScaled: boolean): unknown {
  const { status = {}, metadata } = object as KubeObject & { status?: Json }
  const json = JSON.stringify(status, (key, value: unknown) => {
    if (key === 'lastTransitionTime') return undefined
    // An empty list equals an absent one: server-side apply retains it only if it never had items.
    if (Array.isArray(value) && value.length === 0) return undefined
    if (key === 'observedGeneration') return value === metadata.generation ? 'current' : 'behind'
    return value
  })
  const shown = JSON.parse(json) as Json
  if (!isScaled) return shown
  const conditions = (shown['conditions'] ?? []) as readonly Json[]
  return {
    ...without(shown, /replicas$|^summary$|^autoscaling$/i),
    conditions: conditions.map((each) => without(each, /^message$/)),
  }
}

function without(object: Json, names: RegExp): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.test(name)))
}
