// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { liveRevisions, type Revision } from '../cache/child-stores.ts'
import type { KubeClient } from '../kube/client.ts'
import { ApiError, isNamespaceTerminating } from '../kube/errors.ts'
import { type KubeObject, objectKey, apiVersionOf, type Resource } from '../kube/object.ts'
import type { Store } from '../kube/store.ts'
import { configMapName, lastGoodName } from '../resources/deployment.ts'
import { setsCount } from '../resources/foreign-fields.ts'
import {
  childKinds,
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  monitorKinds,
  podDisruptionBudgets,
} from '../resources/kinds.ts'
import { componentOf } from '../resources/labels.ts'
import type { Applied } from '../status/router-status.ts'
import { BlockedError, type ChildApplier, pathOf, applyDeployment } from './child-applier.ts'

/*
 * Most objects of a router are applied in order, because each needs those before it. First comes
 * what pods need to start: a Redis with its Secret, Service and NetworkPolicy, the ConfigMap, the
 * ServiceAccount, the NetworkPolicy. The Deployment follows, and last the Service, which clients
 * use. A failure blocks later objects. Independent objects block nothing, and nothing blocks them.
 */

const independent: readonly Resource[] = [
  // Without the autoscaler, the replica count stays unchanged.
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  ...monitorKinds,
]

/** The desired objects of a router. */
export interface WantedObjects {
  /** Hash of the desired config: see `RenderedConfig`. */
  readonly fixedHash: string
  /** Hash of the Deployment's current config; null without a Deployment. */
  readonly current: string | null
  readonly objects: readonly KubeObject[]
  /** Whether other desired objects are deferred, so that everything that pods use stays. */
  readonly isPartial?: boolean
}

/** The outcome of applying a router's objects. */
export interface ApplyResult {
  readonly applied: Applied
  /** Failure to retry; null if there is none. */
  readonly error: ApiError | null
  /** Delay until the next reconcile even if nothing changes; null: none. */
  readonly requeueMs: number | null
}

export interface ApplyOrderOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'apply'>
  readonly children: ChildApplier
  readonly replicaSets: Store<Revision, 'instance'>
}

/** Applies a router's objects in order. If one is refused, only its dependents are blocked. */
export class ApplyOrder {
  readonly #options: ApplyOrderOptions

  constructor(options: ApplyOrderOptions) {
    this.#options = options
  }

  /**
   * Applies the objects. Refusals and server errors may last, so they are part of the result.
   * @throws KubeError if the connection to the API server fails
   */
  async apply(
    router: RpcRouter,
    { fixedHash, current, objects, isPartial = false }: WantedObjects,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    let failure: ApplyResult | null = null
    const attempt = async (act: () => Promise<void>): Promise<boolean> => {
      try {
        await act()
        return true
      } catch (error) {
        const result = failureOf(error)
        failure ??= result
        return false
      }
    }
    const wanted = new Set(objects.map((object) => pathOf(resourceOf(object), object.metadata)))
    const isWanted = (resource: Resource, { metadata }: KubeObject): boolean =>
      wanted.has(pathOf(resource, metadata))
    // A removed autoscaler must be deleted before the count is applied.
    const isPruned = await attempt(() =>
      this.#options.children.prune(
        router,
        (resource, object) =>
          resource.plural !== horizontalPodAutoscalers.plural || isWanted(resource, object),
        signal,
      ),
    )
    let isBlocked = !isPruned
    for (const object of objects) {
      const isIndependent = independent.includes(resourceOf(object))
      if (isBlocked && !isIndependent) continue
      const isApplied = await attempt(() => this.#applyOne(router, object, signal))
      isBlocked ||= !isApplied && !isIndependent
    }
    // Until every object is applied, everything that pods use stays, except configs of no pod.
    const isObsolete = (resource: Resource, object: KubeObject): boolean =>
      !isWanted(resource, object) &&
      ((!isBlocked && !isPartial) || resource.plural === configMaps.plural)
    await attempt(() => this.#prune(router, isObsolete, [fixedHash, current], signal))
    return failure ?? { applied: { result: 'applied' }, error: null, requeueMs: null }
  }

  async #applyOne(router: RpcRouter, object: KubeObject, signal: AbortSignal): Promise<void> {
    const resource = resourceOf(object)
    if (resource === deployments) {
      const deployment = object as Deployment
      const { replicas: count, ...spec } = deployment.spec
      const isNamed = router.spec.replicas !== undefined
      // Without a count in the spec, the current one stays, even that of a deleted autoscaler.
      const present = isNamed ? null : this.#options.children.latest(deployments, object.metadata)
      const isTheirs = present?.metadata.managedFields?.some(setsCount) === true
      const replicas =
        isTheirs || count === undefined ? undefined : (present?.spec.replicas ?? count)
      const wanted = {
        ...deployment,
        spec: { ...spec, ...(replicas !== undefined && { replicas }) },
      }
      return applyDeployment(this.#options.client, this.#options.children, router, wanted, signal)
    }
    await this.#options.children.apply(router, resource, object, signal)
  }

  /**
   * Deletes obsolete objects, except those that pods still use, and configs that pods run or may
   * run again. Pods could not start without them. The watch may lag, so it lists the revisions
   * first.
   * @param hashes configs that always stay
   */
  async #prune(
    router: RpcRouter,
    isObsolete: (resource: Resource, object: KubeObject) => boolean,
    hashes: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<void> {
    const { client, replicaSets } = this.#options
    const isRetained = (revisions: readonly Revision[]) => {
      const all = [...hashes, ...revisions.map((revision) => revision.fixedHash)]
      const configs = new Set(all.map((hash) => (hash ? configMapName(router, hash) : null)))
      return (resource: Resource, object: KubeObject) =>
        !isObsolete(resource, object) ||
        (resource.plural === configMaps.plural && configs.has(object.metadata.name)) ||
        object.metadata.name === lastGoodName(router) ||
        // A Redis' Secret has the same name as its other objects.
        (componentOf(object) !== 'router' &&
          revisions.some(({ pods, secrets }) => pods > 0 && secrets.includes(object.metadata.name)))
    }
    const isWanted = isRetained(replicaSets.byIndex('instance', objectKey(router.metadata)))
    if (this.#options.children.unwanted(router, isWanted).length === 0) return
    const live = await liveRevisions(client, router, signal)
    await this.#options.children.prune(router, isRetained(live), signal)
  }
}

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const resources: readonly Resource[] = childKinds
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined)
    throw new TypeError(`${apiVersion} ${kind} is not a kind of a router's objects`)
  return found
}

/** Delays until the next reconcile, because no watch reports that a blocking object is gone. */
const blocked = {
  'other-owner': { result: 'conflict', requeueMs: 30_000 },
  deletion: { result: 'waiting', requeueMs: 1_000 },
} as const

/** @throws the error if the objects did not cause it */
function failureOf(error: unknown): ApplyResult {
  if (error instanceof BlockedError) {
    const { result, requeueMs } = blocked[error.by]
    return { applied: { result, message: error.message }, error: null, requeueMs }
  }
  if (!(error instanceof ApiError) || isNamespaceTerminating(error)) throw error
  return { applied: { result: 'refused', message: error.message }, error, requeueMs: null }
}
