// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group, rpcRouterNames } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import { objectKey, type KubeObject, type OwnerReference, type Resource } from '../kube/object.ts'
import { listAll } from '../kube/reflector.ts'
import { type Change, Store } from '../kube/store.ts'
import { deployments, type ReplicaSet, replicaSets } from '../resources/kinds.ts'
import { instanceKeys, isChild, childrenOf, fixedHashAnnotation } from '../resources/labels.ts'
import { type PodPorts, portsIn } from '../resources/ports.ts'

type ChildStore = Store<KubeObject, 'owner'>

/** An object of a router, with its kind. */
export interface Child {
  readonly resource: Resource
  readonly object: KubeObject
}

/** The known objects of all kinds that can belong to a router, one store per kind. */
export class ChildStores {
  readonly #stores: ReadonlyMap<string, ChildStore>
  readonly resources: readonly Resource[]

  constructor(resources: readonly Resource[]) {
    this.resources = resources
    this.#stores = new Map(resources.map(({ plural }) => [plural, new Store({ owner: ownerUids })]))
  }

  store({ plural }: Resource): ChildStore {
    const found = this.#stores.get(plural)
    if (found === undefined) throw new TypeError(`there is no store of ${plural}`)
    return found
  }

  get<T extends KubeObject>(resource: Resource<T>, key: string): T | undefined {
    return this.store(resource).get(key) as T | undefined
  }

  /** The objects of a router, by owner and by labels: foreign objects may have it as their owner, too. */
  ownedBy({ metadata }: RpcRouter): readonly Child[] {
    const key = objectKey(metadata)
    return this.resources.flatMap((resource) =>
      this.store(resource)
        .byIndex('owner', metadata.uid)
        .filter((object) => isChild(object) && instanceKeys(object).includes(key))
        .map((object) => ({ resource, object })),
    )
  }

  onChange(listener: (change: Change<KubeObject>, resource: Resource) => void): void {
    for (const resource of this.resources)
      this.store(resource).subscribe((change) => listener(change, resource))
  }
}

function ownerUids(object: KubeObject): readonly string[] {
  const owner = owningRouter(object)
  return owner === undefined ? [] : [owner.uid]
}

/** The key of the router that an object belongs to, if it belongs to one. */
export function routersOf(object: KubeObject): readonly string[] {
  const owner = owningRouter(object)
  const { namespace } = object.metadata
  return owner === undefined ? [] : [objectKey({ namespace, name: owner.name })]
}

/**
 * The RpcRouter that an object says it is controlled by; Kubernetes lets an object have one controller. Kinds of other
 * groups may have the same name, and are other kinds.
 */
export function owningRouter({
  metadata,
}: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)
  return controller !== undefined && isRouter(controller) ? controller : undefined
}

/** Versions of our group are the same kind. */
function isRouter({ apiVersion, kind }: OwnerReference): boolean {
  return apiVersion.startsWith(`${group}/`) && kind === rpcRouterNames.kind
}

/** What is kept of a ReplicaSet, or of a Deployment: what its pods, if it has any, need in order to run. */
export interface Revision extends KubeObject {
  readonly fixedHash: string | null
  readonly ports: PodPorts
  readonly pods: number
  /** Names of the Secrets that its containers take variables from. */
  readonly secrets: readonly string[]
}

export function revisionOf(object: KubeObject): Revision {
  const { apiVersion, kind, metadata, spec, status } = object as ReplicaSet
  const { name, namespace, uid, resourceVersion, labels, ownerReferences } = metadata
  const { annotations } = spec?.template?.metadata ?? {}
  const variables = spec?.template?.spec?.containers.flatMap(({ env }) => env ?? []) ?? []
  const secrets = variables.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels, ownerReferences },
    fixedHash: annotations?.[fixedHashAnnotation] ?? null,
    ports: portsIn(annotations),
    pods: Math.max(spec?.replicas ?? 0, status?.replicas ?? 0),
    secrets: [...new Set(secrets)],
  }
}

/**
 * What the ReplicaSets of a router refer to, as the API server has it now: old pods may start again, and a rollout may be
 * undone. It includes what the Deployment refers to, since its ReplicaSet may not exist yet.
 */
export async function liveRevisions(
  client: Pick<KubeClient, 'list'>,
  { metadata }: RpcRouter,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const selection = { namespace: metadata.namespace, labelSelector: childrenOf(metadata.name) }
  // In this order: a ReplicaSet that is made in between is that of the Deployment.
  const asking = await listAll(client, deployments, selection, signal)
  const { items } = await listAll(client, replicaSets, selection, signal)
  return [...asking.items, ...items].map(revisionOf)
}
