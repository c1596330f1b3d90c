// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import { type Clock, rfc3339 } from '../kube/clock.ts'
import type { Outcome, ReconcileContext } from '../kube/controller.ts'
import type { ApiError } from '../kube/errors.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import { keyOf } from '../kube/object.ts'
import { buildFleet, buildRedis } from '../resources/build-children.ts'
import type { BuildContext } from '../resources/build-context.ts'
import type { PodPorts } from '../resources/pod-ports.ts'
import { invalidRouterStatus } from '../status/invalid-status.ts'
import { isOtherTemplate, routerOccurrences, templateOccurrences } from '../status/occurrences.ts'
import { isPaused, routerStatus } from '../status/router-status.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import type { Translation } from '../translate/translation.ts'
import type { ApplyOrder, ApplyResult } from './apply-order.ts'
import { outcomesOf } from './provider-outcomes.ts'
import type { ProviderResults } from './provider-results.ts'
import { revisionOf } from './revisions.ts'
import type { RouterTranslator } from './router-translator.ts'
import type { RunningFleets } from './running-fleets.ts'
import type { StatusWriter } from './status-writer.ts'
import type { World } from './world.ts'

export interface RouterReconcilerParts {
  readonly world: World
  readonly fleets: RunningFleets
  readonly translator: RouterTranslator
  readonly applier: ApplyOrder
  readonly statuses: StatusWriter<RpcRouterStatus>
  readonly results: ProviderResults
  readonly events: Pick<EventRecorder, 'record'>
  readonly build: BuildContext
  readonly clock: Clock
  /** Called with the keys of providers about which a router thinks otherwise now. */
  readonly onVerdicts: (providers: readonly string[]) => void
}

/** Waited for what no watch tells of: a reference of the config that runs, a foreign object of our name. */
const heldAgainMs = 30_000

/** Answers that tell of the moment, not of the object; so do those of a server that fails. */
const passing: readonly number[] = [401, 403, 408, 409, 410, 429]

/**
 * What may pass is told in the status when so many tries in a row have failed: after about a second. The log waits longer,
 * and for missing rights alone: see `controller.ts`.
 */
const patientTries = 8

function mayPass({ status }: ApiError): boolean {
  return status >= 500 || passing.includes(status)
}

/** Brings the objects of one router to what it and its providers ask for, and says so in its status. */
export class RouterReconciler {
  readonly #parts: RouterReconcilerParts

  constructor(parts: RouterReconcilerParts) {
    this.#parts = parts
  }

  readonly reconcile = async (
    key: string,
    { signal, failures }: ReconcileContext,
  ): Promise<Outcome | undefined> => {
    const { world, fleets, results, statuses, onVerdicts } = this.#parts
    const object = world.routers.get(key)
    if (object === undefined) {
      this.#parts.translator.forget(key)
      onVerdicts(results.forget(key))
      return undefined
    }
    if (object.metadata.deletionTimestamp !== undefined) return undefined
    const { value, faults } = world.router(object)
    if (value === null) {
      const invalid = { object: statuses.latest(object), faults, now: this.#now() }
      await statuses.write(object, invalidRouterStatus(invalid, fleets.deployment(object)), signal)
      return undefined
    }
    return this.#reconcile(key, statuses.latest(value), failures, signal)
  }

  async #reconcile(
    key: string,
    router: RpcRouter,
    failures: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { fleets, translator } = this.#parts
    const before = fleets.deployment(router)?.spec.template ?? null
    const running = fleets.running(router)
    const translated = await translator.translate(router, running, signal)
    const { translation, redisPassword } = translated
    const attempt = await this.#apply(router, translation, redisPassword, signal)
    const deployment = fleets.deployment(router)
    const after = deployment?.spec.template ?? null
    // The next attempt would not see it: the pods are asked for, whatever else is refused.
    for (const told of templateOccurrences(before, after))
      this.#parts.events.record({ ...told, regarding: router })
    if (attempt.error !== null && mayPass(attempt.error) && failures < patientTries)
      throw attempt.error
    const { applied } = attempt
    const now = this.#now()
    const rollsOut = isOtherTemplate(before, after)
    const missingMonitor = this.#missingMonitor(router)
    const observed = { router, translation, applied, deployment, missingMonitor, rollsOut, now }
    const status = routerStatus(observed)
    const occurrences = routerOccurrences(router, status)
    await this.#parts.statuses.write(router, status, signal)
    for (const told of occurrences) this.#parts.events.record({ ...told, regarding: router })
    this.#tell(key, router, translation)
    if (attempt.error !== null) throw attempt.error
    // What mends a router that is refused as a whole is told by the watch.
    const isRefused = translation.config === null && translation.refusals.length > 0
    const isHeld = translation.dangling.length > 0 || applied.result === 'conflict'
    const waits = [attempt.againMs, isHeld && !isRefused ? heldAgainMs : null]
    const againMs = Math.min(...waits.map((ms) => ms ?? Infinity))
    return againMs === Infinity ? {} : { requeueAfterMs: againMs }
  }

  async #apply(
    router: RpcRouter,
    { config, state }: Translation,
    redisPassword: string | null,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    if (config === null || isPaused(router))
      return { applied: { result: 'held' }, error: null, againMs: null }
    const { applier, fleets, build } = this.#parts
    const redis =
      redisPassword === null ? [] : buildRedis(router, state.store, redisPassword, build)
    const { configHash } = config
    const deployment = fleets.deployment(router)
    const current = deployment === null ? null : revisionOf(deployment).configHash
    const others = this.#portsOfOthers(router, config)
    const objects = [...redis, ...buildFleet(router, config, build, others)]
    return applier.apply(router, { configHash, current, objects }, signal)
  }

  /** Ports of pods with other configs: they run to the end of a rollout, and again when it is undone. */
  #portsOfOthers(router: RpcRouter, wanted: RenderedConfig): readonly PodPorts[] {
    const deployment = this.#parts.fleets.deployment(router)
    return [
      ...this.#parts.world.replicaSets.byIndex('instance', keyOf(router.metadata)),
      // Its ReplicaSet may be yet to come.
      ...(deployment === null ? [] : [revisionOf(deployment)]),
    ]
      .filter(({ configHash }) => configHash !== wanted.configHash)
      .map(({ ports }) => ports)
  }

  #missingMonitor({ spec }: RpcRouter): string | null {
    const { type } = spec.monitoring
    return type === 'None' || this.#parts.build.monitors.has(type) ? null : type
  }

  /** Lets the providers know. */
  #tell(key: string, router: RpcRouter, { providers, config }: Translation): void {
    const { world, results, onVerdicts, fleets } = this.#parts
    // The pods may have the config though what came after them was refused.
    const deployment = fleets.deployment(router)
    const applied = deployment === null ? null : revisionOf(deployment).configHash
    const isHeld = config === null || config.configHash !== applied
    const find = (provider: string) => world.providers.get(provider)
    onVerdicts(results.set(key, outcomesOf(router, providers, isHeld, find)))
  }

  #now(): string {
    return rfc3339(this.#parts.clock.wallMs())
  }
}
