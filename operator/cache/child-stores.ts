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

export interface Child {
  readonly resource: Resource
  readonly object: KubeObject
}

/** Stores of the objects that can belong to a router, one per kind. */
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

  /** Returns a router's objects by owner and labels: foreign ones may have the same owner. */
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

/** Returns the key of the router that owns an object, if any. */
export function routersOf(object: KubeObject): readonly string[] {
  const owner = owningRouter(object)
  const { namespace } = object.metadata
  return owner === undefined ? [] : [objectKey({ namespace, name: owner.name })]
}

/** Returns the RpcRouter that controls an object. Other groups may have a kind of that name. */
export function owningRouter({
  metadata,
}: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)
  return controller !== undefined && isRouter(controller) ? controller : undefined
}

/** Whether an owner is an RpcRouter, in any version of the API. */
function isRouter({ apiVersion, kind }: OwnerReference): boolean {
  return apiVersion.startsWith(`${group}/`) && kind === rpcRouterNames.kind
}

/** The parts of a ReplicaSet or Deployment that say what its pods need. */
export interface Revision extends KubeObject {
  readonly fixedHash: string | null
  /** Number of the rollout that created it; undefined before Kubernetes has observed it. */
  readonly revision: string | undefined
  readonly ports: PodPorts
  readonly pods: number
  /** Names of the Secrets in its containers' environment. */
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
    revision: metadata.annotations?.['deployment.kubernetes.io/revision'],
    ports: portsIn(annotations),
    pods: Math.max(spec?.replicas ?? 0, status?.replicas ?? 0),
    secrets: [...new Set(secrets)],
  }
}

/**
 * Lists the revisions of a router's ReplicaSets, because old pods may start again and rollouts may
 * be undone. It includes the Deployment, whose ReplicaSet may not exist yet.
 */
export async function liveRevisions(
  client: Pick<KubeClient, 'list'>,
  { metadata }: RpcRouter,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const selection = { namespace: metadata.namespace, labelSelector: childrenOf(metadata.name) }
  // Deployments come first, so that a ReplicaSet created in between is not missed.
  const current = await listAll(client, deployments, selection, signal)
  const { items } = await listAll(client, replicaSets, selection, signal)
  return [...current.items, ...items].map(revisionOf)
}
