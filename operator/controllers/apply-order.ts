// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import { ApiError, isNamespaceTerminating, isUnknownKind } from '../kube/errors.ts'
import { type KubeObject, objectKey, apiVersionOf, type Resource } from '../kube/object.ts'
import type { Store } from '../kube/store.ts'
import { configMapName, lastGoodName } from '../resources/deployment.ts'
import {
  childKinds,
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  monitorKinds,
  networkPolicies,
  podDisruptionBudgets,
} from '../resources/kinds.ts'
import { componentOf } from '../resources/labels.ts'
import { sentences } from '../status/condition-set.ts'
import type { Applied } from '../status/router-status.ts'
import {
  belongsTo,
  BlockedError,
  type ChildApplier,
  pathOf,
  applyDeployment,
} from './child-applier.ts'
import { liveRevisions, type Revision } from './child-stores.ts'
import { setsCount } from './foreign-fields.ts'

/*
 * Most objects of a router are applied in a chain, each needed by those after it: first what pods
 * start with (of a Redis its Secret, Service, NetworkPolicy and StatefulSet; the ConfigMap, the
 * ServiceAccount, the NetworkPolicy), then the Deployment, then the Service, which clients use. One
 * that fails stops those after it, and the pods go on as they are, unless its present state is
 * enough. Some objects are outside the chain: they stop nothing, and nothing stops them.
 */

const aside: readonly Resource[] = [
  // Without it the count stays as it is: it is handed over before it is given up.
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  ...monitorKinds,
]

/** New pods need this ConfigMap and no other, and a NetworkPolicy that opens their ports. */
const changesWithPods: readonly Resource[] = [configMaps, networkPolicies, deployments]

/** The wanted objects of a router. */
export interface WantedObjects {
  /** Of the wanted config: see `RenderedConfig`. */
  readonly fixedHash: string
  /** Of the config that the Deployment has had so far; null when there is none. */
  readonly current: string | null
  readonly objects: readonly KubeObject[]
  /** Others are wanted too, and wait: what the pods use now stays. */
  readonly isInPart?: boolean
}

/** How applying the objects of a router ended. */
export interface ApplyResult {
  readonly applied: Applied
  /** The failure that has to be retried; null for none. */
  readonly error: ApiError | null
  /** When to reconcile again though nothing changes; null for never. */
  readonly requeueMs: number | null
}

export interface ApplyOrderOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'apply'>
  readonly children: ChildApplier
  readonly replicaSets: Store<Revision, 'instance'>
  /** Called when the cluster does not know a kind that it may not have. */
  readonly onUnknownKind: (kind: Resource) => void
}

/**
 * Applies all objects of a router in order. What is refused holds back what depends on it, and
 * nothing else.
 */
export class ApplyOrder {
  readonly #options: ApplyOrderOptions

  constructor(options: ApplyOrderOptions) {
    this.#options = options
  }

  /**
   * A refusal is part of the result, also a failure of the server: it may last.
   *
   * @throws failures of the connection to the API server, which are not about the objects
   */
  async apply(
    router: RpcRouter,
    { fixedHash, current, objects, isInPart = false }: WantedObjects,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const failures = new Failures()
    const wanted = new Set(objects.map((object) => pathOf(resourceOf(object), object.metadata)))
    const isWanted = (resource: Resource, { metadata }: KubeObject): boolean =>
      wanted.has(pathOf(resource, metadata))
    // An autoscaler that is being removed must not change the count that is applied next. If it
    // cannot be deleted, it keeps the count.
    const isCountOurs = await failures.during(() =>
      this.#options.children.prune(
        router,
        (resource, object) =>
          resource.plural !== horizontalPodAutoscalers.plural || isWanted(resource, object),
        signal,
      ),
    )
    let isBlocked = false
    for (const object of objects) {
      const isAside = aside.includes(resourceOf(object))
      if (isBlocked && !isAside) continue
      const isApplied = await failures.during(() =>
        this.#applyOne(router, object, isCountOurs, signal),
      )
      isBlocked ||= !isApplied && !isAside && !this.#isEnough(router, object)
    }
    // What the pods use now stays while something was not applied, except configs that none of them
    // runs.
    const isDone = (resource: Resource, object: KubeObject): boolean =>
      !isWanted(resource, object) &&
      ((!isBlocked && !isInPart) || resource.plural === configMaps.plural)
    await failures.during(() => this.#prune(router, isDone, [fixedHash, current], signal))
    return failures.result(isBlocked)
  }

  /** @param isCountOurs false where an autoscaler stays that should go */
  async #applyOne(
    router: RpcRouter,
    object: KubeObject,
    isCountOurs: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const resource = resourceOf(object)
    if (resource === deployments) {
      const deployment = object as Deployment
      const { replicas: count, ...spec } = deployment.spec
      const isNamed = router.spec.replicas !== undefined
      // Where the router names no count, the present one stays: also that of an autoscaler which is
      // gone.
      const present = isNamed ? null : this.#options.children.latest(deployments, object.metadata)
      const isTheirs = !isCountOurs || present?.metadata.managedFields?.some(setsCount) === true
      const replicas =
        isTheirs || count === undefined ? undefined : (present?.spec.replicas ?? count)
      const wanted = {
        ...deployment,
        spec: { ...spec, ...(replicas !== undefined && { replicas }) },
      }
      return applyDeployment(this.#options.client, this.#options.children, router, wanted, signal)
    }
    try {
      await this.#options.children.apply(router, resource, object, signal)
    } catch (error) {
      if (!monitorKinds.includes(resource) || !isUnknownKind(error)) throw error
      this.#options.onUnknownKind(resource)
    }
  }

  /**
   * Whether the present state of an object that could not be applied is enough for those after it.
   */
  #isEnough(router: RpcRouter, wanted: KubeObject): boolean {
    const resource = resourceOf(wanted)
    const found = this.#options.children.latest(resource, wanted.metadata)
    if (changesWithPods.includes(resource)) return false
    return found !== null && belongsTo(found, router) && !found.metadata.deletionTimestamp
  }

  /**
   * Deletes what is not wanted any more, except what pods still talk to, and configs that pods run
   * or can run again. The watch may lag, and pods could not start without a deleted object: so the
   * API server is first asked for the revisions that exist.
   *
   * @param hashes of configs that stay in any case
   */
  async #prune(
    router: RpcRouter,
    isDone: (resource: Resource, object: KubeObject) => boolean,
    hashes: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<void> {
    const { client, replicaSets } = this.#options
    const keeping = (revisions: readonly Revision[]) => {
      const all = [...hashes, ...revisions.map((revision) => revision.fixedHash)]
      const configs = new Set(all.map((hash) => (hash ? configMapName(router, hash) : null)))
      return (resource: Resource, object: KubeObject) =>
        !isDone(resource, object) ||
        (resource.plural === configMaps.plural && configs.has(object.metadata.name)) ||
        object.metadata.name === lastGoodName(router) ||
        // The Secret of a Redis is called as its other objects are.
        (componentOf(object) !== 'router' &&
          revisions.some(({ pods, secrets }) => pods > 0 && secrets.includes(object.metadata.name)))
    }
    const isKept = keeping(replicaSets.byIndex('instance', objectKey(router.metadata)))
    if (this.#options.children.unwanted(router, isKept).length === 0) return
    const live = await liveRevisions(client, router, signal)
    await this.#options.children.prune(router, keeping(live), signal)
  }
}

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const resources: readonly Resource[] = childKinds
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined) throw new TypeError(`${apiVersion} ${kind} is no kind of a router`)
  return found
}

interface Failure {
  readonly result: 'conflict' | 'waiting' | 'refused'
  readonly message: string
  /** To be retried. */
  readonly error: ApiError | null
  readonly requeueMs: number | null
}

/** The objects that failed: a refused one does not stop the others. */
class Failures {
  readonly #all: Failure[] = []

  /**
   * @returns whether it went well
   * @throws failures of the connection to the API server, which are not about the objects
   */
  async during(act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      const failure = failureOf(error)
      if (failure === null) throw error
      this.#all.push(failure)
      return false
    }
  }

  /** @param isBlocked whether something was not applied because of them */
  result(isBlocked: boolean): ApplyResult {
    const [first] = this.#all
    if (first === undefined) return { applied: { result: 'applied' }, error: null, requeueMs: null }
    const texts = this.#all.map(({ message }) => message)
    const refusals = this.#all.flatMap(({ error }) => error ?? [])
    if (!isBlocked && refusals.length === this.#all.length)
      texts.push('All other objects are applied.')
    const requeueMs = Math.min(...this.#all.map((failure) => failure.requeueMs ?? Infinity))
    return {
      applied: {
        result: first.result,
        message: texts.length === 1 ? first.message : sentences(texts),
      },
      error: refusals[0] ?? null,
      requeueMs: requeueMs === Infinity ? null : requeueMs,
    }
  }
}

/** When to look again: no watch reports when an object in the way is gone. */
const blocked = {
  'other-owner': { result: 'conflict', requeueMs: 30_000 },
  deletion: { result: 'waiting', requeueMs: 1_000 },
} as const

function failureOf(error: unknown): Failure | null {
  if (error instanceof BlockedError)
    return { ...blocked[error.by], message: error.message, error: null }
  if (!(error instanceof ApiError) || isNamespaceTerminating(error)) return null
  return { result: 'refused', message: error.message, error, requeueMs: null }
}
