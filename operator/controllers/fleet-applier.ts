// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { ApiError } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import { apiVersionOf, type Resource } from '../kube/resource.ts'
import { configMapName } from '../resources/config-map.ts'
import {
  childKinds,
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
} from '../resources/kinds.ts'
import type { Applied } from '../status/router-status.ts'
import type { ChildApplier } from './child-applier.ts'
import type { DeploymentApplier } from './deployment-applier.ts'
import { NameConflictError } from './errors.ts'

/** How an attempt ended, and the failure that is to be tried again, if there was one. */
export interface Attempt {
  readonly applied: Applied
  readonly error: Error | null
}

/** Applies all objects of a router, in an order in which nothing waits for what comes later. */
export class FleetApplier {
  readonly #children: ChildApplier
  readonly #deployments: DeploymentApplier

  constructor(children: ChildApplier, deploymentApplier: DeploymentApplier) {
    this.#children = children
    this.#deployments = deploymentApplier
  }

  /**
   * @param keptConfigs hashes of configs that ReplicaSets still refer to
   * @throws what is of the way to the API server, and not of the objects
   */
  async apply(
    router: RpcRouter,
    objects: readonly KubeObject[],
    keptConfigs: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Attempt> {
    return this.#attempt(() => this.#apply(router, objects, keptConfigs, signal))
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
      if (!isRefusal(error)) throw error
      return { applied: { result: 'refused', message: error.message }, error }
    }
  }

  async #apply(
    router: RpcRouter,
    objects: readonly KubeObject[],
    keptConfigs: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = new Set(objects.map((object) => pathOf(resourceOf(object), object)))
    const kept = new Set([...keptConfigs].map((hash) => configMapName(router, hash)))
    const isWanted = (resource: Resource, object: KubeObject): boolean =>
      wanted.has(pathOf(resource, object)) ||
      (resource.plural === configMaps.plural && kept.has(object.metadata.name))
    const isDeployment = ({ kind }: KubeObject): boolean => kind === deployments.kind
    // An autoscaler that is to go must not touch the count that is applied next.
    await this.#children.prune(
      router,
      (resource, object) =>
        resource.plural !== horizontalPodAutoscalers.plural || isWanted(resource, object),
      signal,
    )
    for (const object of objects)
      if (!isDeployment(object))
        await this.#children.apply(router, resourceOf(object), object, signal)
    for (const object of objects)
      if (isDeployment(object)) await this.#deployments.apply(router, object as Deployment, signal)
    await this.#children.prune(router, isWanted, signal)
  }
}

/** Answers that tell of the moment, not of the object. */
const passing: readonly number[] = [401, 408, 409, 410, 429]

/** The API server understood and will not have it; another try may do when a quota or a policy changed. */
function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  return error.status >= 400 && error.status < 500 && !passing.includes(error.status)
}

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const resources: readonly Resource[] = childKinds
  const found = resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined) throw new TypeError(`${apiVersion} ${kind} is no kind of a router`)
  return found
}

function pathOf({ plural }: Resource, { metadata }: KubeObject): string {
  return `${plural} ${keyOf(metadata)}`
}
