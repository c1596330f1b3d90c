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
import { redisObjectName, routerObjectName } from '../translate/object-names.ts'
import { type ChildApplier, pathOf } from './child-applier.ts'
import type { DeploymentApplier } from './deployment-applier.ts'
import {
  FieldsContestedError,
  ForeignFieldsError,
  NameConflictError,
  StillThereError,
} from './errors.ts'
import type { Revision, Revisions } from './revisions.ts'

/** How an attempt ended. */
export interface Attempt {
  readonly applied: Applied
  /** The failure that is to be tried again, if there was one. */
  readonly error: ApiError | null
  /** When to look again though nothing changes; null for never. */
  readonly againMs: number | null
}

/** What a fleet is to consist of. */
export interface WantedFleet {
  /** Hash of the config that it is to run. */
  readonly configHash: string
  /** Hash of the config that the Deployment has had so far. */
  readonly current: string | undefined
  readonly objects: readonly KubeObject[]
}

/** How long until a look whether the garbage collector, or another writer, is done. Its deletions may be of objects no watch told of. */
const stillThereMs = 1_000

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
   * @throws what is of the way to the API server, and not of the objects
   */
  async apply(router: RpcRouter, fleet: WantedFleet, signal: AbortSignal): Promise<Attempt> {
    return this.#attempt(() => this.#apply(router, fleet, signal))
  }

  /** Finds the Deployment of a router again if it is there and no watch tells of it: nothing is applied before. */
  async reclaim(router: RpcRouter, signal: AbortSignal): Promise<Attempt> {
    const name = routerObjectName(router)
    return this.#attempt(() => this.#children.reclaim(router, deployments, name, signal))
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
      return { applied: { result: 'applied' }, error: null, againMs: null }
    } catch (error) {
      const told = (result: 'conflict' | 'waiting' | 'contested', againMs: number | null) => ({
        applied: { result, message: (error as Error).message },
        error: null,
        againMs,
      })
      if (error instanceof NameConflictError) return told('conflict', null)
      if (error instanceof StillThereError) return told('waiting', stillThereMs)
      if (error instanceof ForeignFieldsError) return told('contested', stillThereMs)
      if (error instanceof FieldsContestedError) return told('contested', error.leftMs)
      if (!(error instanceof ApiError) || isNamespaceTerminating(error)) throw error
      return { applied: { result: 'refused', message: error.message }, error, againMs: null }
    }
  }

  async #apply(
    router: RpcRouter,
    { configHash, current, objects }: WantedFleet,
    signal: AbortSignal,
  ): Promise<void> {
    const unpruned = await this.#pruneConfigs(router, [configHash, current], signal)
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
    await this.#prune(router, isWanted, signal)
    if (unpruned !== null) throw unpruned
    // Nothing was held up by it.
    for (const object of objects) this.#children.checkContest(router, resourceOf(object), object)
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

  /**
   * Deletes the configs that no pod runs and none can run again. This comes before all else: one whose Deployment was
   * refused would stay for as long as that lasts, and a quota might have no room for the next.
   *
   * @param hashes of configs that stay whoever runs them
   * @returns why one could not be deleted
   */
  async #pruneConfigs(
    router: RpcRouter,
    hashes: readonly (string | undefined)[],
    signal: AbortSignal,
  ): Promise<ApiError | null> {
    const keeping = (revisions: readonly Revision[]) => {
      const all = [...hashes, ...revisions.map(({ configHash }) => configHash)]
      const names = new Set(all.map((hash) => (hash ? configMapName(router, hash) : null)))
      return ({ plural }: Resource, { metadata }: KubeObject) =>
        plural !== configMaps.plural || names.has(metadata.name)
    }
    try {
      const doomed = this.#children.unwanted(router, keeping(this.#revisions.known(router)))
      if (doomed.length === 0) return null
      // The watch may lag behind, and what pods start with could not be brought back.
      const isKept = keeping(await this.#revisions.live(router, signal))
      await this.#children.prune(router, isKept, signal)
      return null
    } catch (error) {
      // It does not keep the pods from what they are to be.
      if (!(error instanceof ApiError) || isNamespaceTerminating(error)) throw error
      return error
    }
  }

  /** Deletes what else is not wanted any more, but for what pods still talk to. */
  async #prune(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const keeping = (revisions: readonly Revision[]) => (resource: Resource, object: KubeObject) =>
      isWanted(resource, object) ||
      resource.plural === configMaps.plural ||
      (componentOf(object) === 'redis' && usesRedis(router, revisions))
    const isKept = keeping(this.#revisions.known(router))
    const doomed = this.#children.unwanted(router, isKept)
    if (doomed.length === 0) return
    // The watch may lag behind here, too.
    const isProof = doomed.some(({ object }) => componentOf(object) === 'redis')
    const revisions = isProof ? await this.#revisions.live(router, signal) : []
    await this.#children.prune(router, isProof ? keeping(revisions) : isKept, signal)
  }
}

function usesRedis(router: RpcRouter, revisions: readonly Revision[]): boolean {
  const name = redisObjectName(router)
  return revisions.some(({ pods, secrets }) => pods > 0 && secrets.includes(name))
}

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const resources: readonly Resource[] = childKinds
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined) throw new TypeError(`${apiVersion} ${kind} is no kind of a router`)
  return found
}
