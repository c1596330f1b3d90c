// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { isUnknownKind } from '../kube/errors.ts'
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
  statefulSets,
} from '../resources/kinds.ts'
import { redisObjectName } from '../translate/object-names.ts'
import { type Attempt, Troubles } from './attempt.ts'
import { belongsTo, type ChildApplier, pathOf } from './child-applier.ts'
import type { DeploymentApplier } from './deployment-applier.ts'
import type { Revision, Revisions } from './revisions.ts'
import { isAside, isEnough } from './waits.ts'

/** What a fleet is to consist of. */
export interface WantedFleet {
  /** Hash of the config that it is to run. */
  readonly configHash: string
  /** Hash of the config that the Deployment has had so far; null when there is none. */
  readonly current: string | null
  readonly objects: readonly KubeObject[]
}

const workloads: readonly Resource[] = [deployments, statefulSets]

/**
 * Applies all objects of a router, in an order in which nothing waits for what comes later. What is refused holds back what
 * depends on it, and nothing else: see `waits.ts`.
 */
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
    const { configHash, current, objects } = fleet
    const troubles = new Troubles()
    await troubles.during(() => this.#pruneConfigs(router, [configHash, current], signal))
    const wanted = new Set(
      objects.map((object) => pathOf(resourceOf(object), keyOf(object.metadata))),
    )
    const isWanted = (resource: Resource, { metadata }: KubeObject): boolean =>
      wanted.has(pathOf(resource, keyOf(metadata)))
    // An autoscaler that is to go must not touch the count that is applied next. Where it cannot be deleted it keeps it.
    const isCountOurs = await troubles.during(() =>
      this.#children.prune(
        router,
        (resource, object) =>
          resource.plural !== horizontalPodAutoscalers.plural || isWanted(resource, object),
        signal,
      ),
    )
    let isHeld = false
    for (const object of objects) {
      const resource = resourceOf(object)
      if (isHeld && !isAside(resource)) continue
      const isApplied = await troubles.during(() =>
        object.kind === deployments.kind
          ? this.#applyDeployment(router, object as Deployment, isCountOurs, signal)
          : this.#applyChild(router, object, signal),
      )
      isHeld ||= !isApplied && !isAside(resource) && !this.#isEnough(router, object)
    }
    if (!isHeld) {
      await troubles.during(() => this.#prune(router, isWanted, signal))
      // Nothing was held up by it.
      await troubles.during(() => {
        for (const object of objects)
          this.#children.checkContest(router, resourceOf(object), object)
      })
    }
    return troubles.attempt(isHeld)
  }

  /** Whether the fleet can do with what is there of an object that could not be applied. */
  #isEnough(router: RpcRouter, wanted: KubeObject): boolean {
    const key = keyOf(wanted.metadata)
    const present = this.#children.latest(resourceOf(wanted), key)
    const isHere =
      present !== null &&
      belongsTo(present, router) &&
      present.metadata.deletionTimestamp === undefined
    // A NetworkPolicy has the name of those that it is for.
    const hasPods = workloads.some((kind) => this.#children.latest(kind, key) !== null)
    return isEnough(wanted, isHere ? present : null, hasPods)
  }

  /** @param isCountOurs false where an autoscaler stays that should go */
  #applyDeployment(
    router: RpcRouter,
    wanted: Deployment,
    isCountOurs: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { replicas: _, ...uncounted } = wanted.spec
    const object = isCountOurs ? wanted : { ...wanted, spec: uncounted }
    return this.#deployments.apply(router, object, signal)
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
   */
  async #pruneConfigs(
    router: RpcRouter,
    hashes: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<void> {
    const keeping = (revisions: readonly Revision[]) => {
      const all = [...hashes, ...revisions.map(({ configHash }) => configHash)]
      const names = new Set(all.map((hash) => (hash ? configMapName(router, hash) : null)))
      return ({ plural }: Resource, { metadata }: KubeObject) =>
        plural !== configMaps.plural || names.has(metadata.name)
    }
    const doomed = this.#children.unwanted(router, keeping(this.#revisions.known(router)))
    if (doomed.length === 0) return
    // The watch may lag behind, and what pods start with could not be brought back.
    const isKept = keeping(await this.#revisions.live(router, signal))
    await this.#children.prune(router, isKept, signal)
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
