// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { ApiError, isNamespaceTerminating, isUnknownKind } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import { apiVersionOf, type Resource } from '../kube/resource.ts'
import { componentOf } from '../resources/labels.ts'
import { configMapName } from '../resources/config-map.ts'
import {
  childKinds,
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  monitorKinds,
} from '../resources/kinds.ts'
import type { Applied } from '../status/router-status.ts'
import { redisObjectName } from '../translate/object-names.ts'
import { type ChildApplier, pathOf } from './child-applier.ts'
import type { DeploymentApplier } from './deployment-applier.ts'
import { ForeignFieldsError, NameConflictError, StillThereError } from './errors.ts'
import type { Revision, Revisions } from './revisions.ts'

/** How an attempt ended, and the failure that is to be tried again, if there was one. */
export interface Attempt {
  readonly applied: Applied
  readonly error: ApiError | null
}

/** Applies all objects of a router, in an order in which nothing waits for what comes later. */
export class FleetApplier {
  readonly #children: ChildApplier
  readonly #deployments: DeploymentApplier
  readonly #revisions: Revisions
  readonly #onUnknownKind: (kind: Resource) => void

  /** @param onUnknownKind called when the cluster does not know a kind that it may not have */
  constructor(
    children: ChildApplier,
    deploymentApplier: DeploymentApplier,
    revisions: Revisions,
    onUnknownKind: (kind: Resource) => void,
  ) {
    this.#revisions = revisions
    this.#onUnknownKind = onUnknownKind
    this.#children = children
    this.#deployments = deploymentApplier
  }

  /**
   * A refusal is part of the answer, also one of the server's own making: it may last.
   *
   * @param current hash of the config that the Deployment has had so far
   * @throws what is of the way to the API server, and not of the objects
   */
  async apply(
    router: RpcRouter,
    objects: readonly KubeObject[],
    current: string | undefined,
    signal: AbortSignal,
  ): Promise<Attempt> {
    return this.#attempt(() => this.#apply(router, objects, current, signal))
  }

  /** Applies objects that the others depend on. */
  async applyFirst(
    router: RpcRouter,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    return this.#attempt(async () => {
      for (const object of objects)
        await this.#children.apply(router, resourceOf(object), object, signal)
    })
  }

  async #attempt(apply: () => Promise<void>): Promise<Attempt> {
    try {
      await apply()
      return { applied: { result: 'applied' }, error: null }
    } catch (error) {
      if (error instanceof NameConflictError)
        return { applied: { result: 'conflict', message: error.message }, error: null }
      if (error instanceof StillThereError)
        return { applied: { result: 'waiting', message: error.message }, error: null }
      if (error instanceof ForeignFieldsError)
        return { applied: { result: 'contested', message: error.message }, error: null }
      if (!(error instanceof ApiError) || isNamespaceTerminating(error)) throw error
      return { applied: { result: 'refused', message: error.message }, error }
    }
  }

  async #apply(
    router: RpcRouter,
    objects: readonly KubeObject[],
    current: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = new Set(
      objects.map((object) => pathOf(resourceOf(object), keyOf(object.metadata))),
    )
    const isWanted = (resource: Resource, { metadata }: KubeObject): boolean =>
      wanted.has(pathOf(resource, keyOf(metadata)))
    // An autoscaler that is to go must not touch the count that is applied next.
    await this.#children.prune(
      router,
      (resource, object) =>
        resource.plural !== horizontalPodAutoscalers.plural || isWanted(resource, object),
      signal,
    )
    // In their order: what clients go by comes after the Deployment, which may be refused.
    for (const object of objects)
      if (object.kind === deployments.kind)
        await this.#deployments.apply(router, object as Deployment, signal)
      else await this.#applyChild(router, object, signal)
    await this.#prune(router, isWanted, current, signal)
  }

  async #applyChild(router: RpcRouter, object: KubeObject, signal: AbortSignal): Promise<void> {
    const resource = resourceOf(object)
    try {
      await this.#children.apply(router, resource, object, signal)
    } catch (error) {
      if (!monitorKinds.includes(resource) || !isUnknownKind(error)) throw error
      this.#onUnknownKind(resource)
    }
  }

  /** Deletes what is not wanted any more, but for what pods still need or may need again. */
  async #prune(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
    current: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const keeping = (revisions: readonly Revision[]) => (resource: Resource, object: KubeObject) =>
      isWanted(resource, object) || isNeeded(router, resource, object, current, revisions)
    const isKept = keeping(this.#revisions.known(router))
    const doomed = this.#children.unwanted(router, isKept)
    if (doomed.length === 0) return
    // The watch may lag behind, and what pods start with could not be brought back.
    const isProof = doomed.some(({ resource, object }) => isOfPods(resource, object))
    const revisions = isProof ? await this.#revisions.live(router, signal) : []
    await this.#children.prune(router, isProof ? keeping(revisions) : isKept, signal)
  }
}

/** What pods start with or talk to, and not only what is around them. */
function isOfPods({ plural }: Resource, object: KubeObject): boolean {
  return plural === configMaps.plural || componentOf(object) === 'redis'
}

function isNeeded(
  router: RpcRouter,
  resource: Resource,
  object: KubeObject,
  current: string | undefined,
  revisions: readonly Revision[],
): boolean {
  if (!isOfPods(resource, object)) return false
  if (componentOf(object) === 'redis')
    return revisions.some(
      ({ pods, secrets }) => pods > 0 && secrets.includes(redisObjectName(router)),
    )
  const hashes = [current, ...revisions.map(({ configHash }) => configHash)]
  return hashes.some((hash) => hash && configMapName(router, hash) === object.metadata.name)
}

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const resources: readonly Resource[] = childKinds
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined) throw new TypeError(`${apiVersion} ${kind} is no kind of a router`)
  return found
}
