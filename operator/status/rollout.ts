// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { Deployment, Pod, StatefulSet } from '../resources/kinds.ts'
import { contentHashAnnotation } from '../resources/labels.ts'
import { portsIn } from '../resources/ports.ts'
import type { RedisComponent } from '../translate/object-names.ts'
import { type ObservedCondition, routerFinding, sentences } from './condition-set.ts'
import { counted } from '../../proxy/words/counted.ts'
import type { RolloutStop } from './rollout-stop.ts'

/** Returns a Deployment's own counts of its pods. */
function countsOf(deployment: Deployment | null) {
  const { replicas, updatedReplicas, readyReplicas, availableReplicas } = deployment?.status ?? {}
  return {
    replicas: replicas ?? 0,
    updatedReplicas: updatedReplicas ?? 0,
    readyReplicas: readyReplicas ?? 0,
    availableReplicas: availableReplicas ?? 0,
  }
}

function wantedBy({ spec }: Deployment): number {
  return spec.replicas ?? 1
}

/** Returns the figures in a router's status that do not depend on its spec. */
export function fleetFigures(deployment: Deployment | null) {
  return {
    configHash: deployment?.metadata.annotations?.[contentHashAnnotation],
    image: deployment?.spec.template.spec?.containers[0]?.image,
    ...countsOf(deployment),
  } satisfies RpcRouterStatus
}

/** Returns the open ports: those in the pods' config, if a pod is available. */
export function openPorts(deployment: Deployment | null): readonly number[] {
  if (deployment === null || countsOf(deployment).availableReplicas === 0) return []
  return portsIn(deployment.spec.template.metadata?.annotations).listen
}

/** Whether the Deployment exceeded its progress deadline. */
export function isStalled(deployment: Deployment | null): boolean {
  return (
    deployment !== null &&
    isObserved(deployment) &&
    conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded'
  )
}

/** Reasons of a Deployment that makes progress, rather than being stalled, paused or failing. */
const rollingReasons = ['NewReplicaSetCreated', 'FoundNewReplicaSet', 'ReplicaSetUpdated']

/** Whether pods are being replaced. */
export function isRolling(deployment: Deployment | null): boolean {
  if (deployment === null) return false
  const { reason = '' } = conditionOf(deployment, 'Progressing') ?? {}
  return !isObserved(deployment) || rollingReasons.includes(reason)
}

/** Whether all wanted pods are available with the newest revision. */
export function isComplete(deployment: Deployment): boolean {
  const isDone = conditionOf(deployment, 'Progressing')?.reason === 'NewReplicaSetAvailable'
  return isDone && isObserved(deployment) && !isShort(deployment)
}

function isShort(deployment: Deployment): boolean {
  return countsOf(deployment).availableReplicas < wantedBy(deployment)
}

function conditionOf({ status }: Deployment | Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** `2/3`. */
export function readyOfWanted(deployment: Deployment | null): string {
  if (deployment === null) return '0/0'
  return `${countsOf(deployment).readyReplicas}/${wantedBy(deployment)}`
}

/** A store that pods cannot use: a Redis of the router or an external one, or a cache service. */
export interface LostStore {
  readonly component: RedisComponent
  /** Whether other pods can use it. */
  readonly isPartial?: boolean
  readonly problem: string | null
}

const losses = {
  redis: 'The store of sessions is not available: until it is, calls with a session id fail',
  'redis-cache':
    'The store of cached answers is not available: until it is, replicas share no answers',
} as const satisfies Readonly<Record<RedisComponent, string>>

/**
 * Reports whether enough pods of any revision are available, as a node drain would leave, the store
 * without which sessions fail, and an upstream for each listener.
 * @param isValid whether the current config is valid
 * @param problem why a pod is not ready, if known
 * @param dark a sentence for each listener that no upstream serves
 */
export function availability(
  spec: Disruptable,
  deployment: Deployment | null,
  isValid = true,
  problem: string | null = null,
  lost: readonly LostStore[] = [],
  dark: readonly string[] = [],
): ObservedCondition<'Available'> {
  if (deployment === null) {
    const message = isValid ? 'Nothing runs yet: see Programmed.' : 'No config has been valid yet.'
    return routerFinding('Available', 'NotProgrammed', message)
  }
  const wanted = wantedBy(deployment)
  const { availableReplicas: available } = countsOf(deployment)
  if (wanted === 0)
    return routerFinding('Available', 'ScaledToZero', 'The wanted number of pods is 0.')
  const minimum = minPods(spec, wanted)
  const counts = `${available} of ${counted(wanted, 'pod is', 'pods are')} available`
  const isEnough = available >= minimum
  const texts = [
    isEnough ? counts : `${counts}, and at least ${minimum} must be`,
    isShort(deployment) ? problem : null,
    ...dark,
    ...lost.flatMap((store) => [losses[store.component], store.problem]),
  ]
  const message = sentences(texts.filter((text) => text !== null))
  if (!isEnough) return routerFinding('Available', 'MinimumReplicasUnavailable', message)
  // Without the store of answers, the router is only slower.
  if (lost.some(({ component, isPartial }) => component === 'redis' && !isPartial))
    return routerFinding('Available', 'RedisUnavailable', message)
  return dark.length > 0
    ? routerFinding('Available', 'ListenersDark', message)
    : routerFinding('Available', 'MinimumReplicasAvailable', message)
}

/**
 * Whether enough pods of the newest revision are available, so that this generation serves. Null
 * until the Deployment has counted them.
 */
export function isRolledOut(spec: RpcRouterSpec, deployment: Deployment | null): boolean | null {
  if (deployment === null || !isObserved(deployment)) return null
  const { replicas, updatedReplicas, availableReplicas } = countsOf(deployment)
  // The count does not say which pods are available; at worst, they are all old.
  const newest = availableReplicas - Math.max(0, replicas - updatedReplicas)
  return newest >= minPods(spec, wantedBy(deployment))
}

/** The part of a spec that says how many pods may be unavailable. */
interface Disruptable {
  readonly pod: Pick<RpcRouterSpec['pod'], 'maxUnavailable'>
}

function minPods({ pod }: Disruptable, wanted: number): number {
  return Math.max(1, wanted - maxUnavailableOf(pod.maxUnavailable, wanted))
}

/** Rounds a percentage up, as a PodDisruptionBudget does; a Deployment rounds it down. */
function maxUnavailableOf(count: number | string, wanted: number): number {
  if (typeof count === 'number') return count
  const amount = Number.parseInt(count, 10)
  return count.endsWith('%') ? Math.ceil((amount * wanted) / 100) : amount
}

/** Whether Kubernetes' controller has observed the current generation. */
export function isObserved({ status, metadata }: Deployment | StatefulSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

/**
 * Reports whether a rollout is in progress, by the status of the Deployment. A pod that is not
 * ready, or a changed count, is not a rollout.
 * @param before the last condition; valid until the Deployment reports more, unless `isNew`
 * @param isNew whether the template just changed
 * @param problem why a pod is not ready, if known
 * @param stop why the rollout is stopped; null if it is not
 */
export function progress(
  deployment: Deployment | null,
  before: ObservedCondition | undefined,
  isNew: boolean,
  problem: string | null = null,
  stop: RolloutStop | null = null,
): ObservedCondition {
  if (deployment === null)
    return routerFinding('Progressing', 'NotProgrammed', 'Nothing has been applied yet.')
  if (stop !== null) return stopped(stop, before)
  const { replicas, updatedReplicas, availableReplicas } = countsOf(deployment)
  const counts = `${updatedReplicas} of ${counted(wantedBy(deployment), 'pod has', 'pods have')} the newest revision`
  const because = problem === null ? [] : [problem]
  const underWay = sentences([
    `${counts}, ${availableReplicas} ${availableReplicas === 1 ? 'is' : 'are'} available`,
    ...because,
  ])
  if (!isObserved(deployment)) {
    const isKnown = before !== undefined && before.reason !== 'NotProgrammed' && !isNew
    return isKnown ? before : routerFinding('Progressing', 'RolloutInProgress', underWay)
  }
  const failure = conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status === 'True') {
    const message = `Kubernetes does not create a pod: ${failure.message ?? failure.reason ?? 'no reason given'}`
    return routerFinding('Progressing', 'ReplicaFailure', sentences([message]))
  }
  switch (conditionOf(deployment, 'Progressing')?.reason) {
    case 'NewReplicaSetAvailable':
      return routerFinding('Progressing', 'RolloutComplete', 'All pods have the newest revision.')
    case 'ProgressDeadlineExceeded': {
      const message = `${counts}; there was no progress for ${deployment.spec.progressDeadlineSeconds} s`
      const old = replicas > updatedReplicas ? ['The old pods keep serving'] : []
      return routerFinding(
        'Progressing',
        'RolloutStalled',
        sentences([message, ...old, ...because]),
      )
    }
    default:
      return routerFinding('Progressing', 'RolloutInProgress', underWay)
  }
}

/** @param before stays while no pod of the newest revision answers */
function stopped({ problem }: RolloutStop, before: ObservedCondition | undefined) {
  if (problem === null && before?.reason === 'RolloutStopped') return before
  const why = problem ?? 'No pod of the newest revision answers'
  const next =
    'Older pods serve it, so the rollout is stopped. It continues when all pods of the newest revision serve it, or with a change that replaces the pods'
  return routerFinding('Progressing', 'RolloutStopped', sentences([why, next]))
}

/** Maximum length of a message. Its start is cut: the end of a log says why a process exited. */
const maxCharacters = 512

/** Reasons to wait during a normal start. */
const usualWaits: readonly (string | undefined)[] = ['ContainerCreating', 'PodInitializing']

/**
 * Says why a pod is not ready: the reason from Kubernetes, and the end of an exited container's
 * log. Uses the newest pod with a reason; null if there is none.
 * @param isLate whether pods should be ready by now, so that a normal start is a problem too
 */
export function podProblem(pods: readonly Pod[], isLate: boolean): string | null {
  const waiting = pods
    .filter(
      (pod) => !pod.metadata.deletionTimestamp && conditionOf(pod, 'Ready')?.status !== 'True',
    )
    .toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))
  const [newest] = waiting
  const shown = waiting.find((pod) => problemOf(pod, false) !== null) ?? newest
  const problem = shown === undefined ? null : problemOf(shown, isLate)
  return problem && `Pod ${shown?.metadata.name}: ${problem}`
}

function problemOf(pod: Pod, isLate: boolean): string | null {
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') return textOf(scheduled.reason, scheduled.message)
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated
    const why = ended?.reason === 'OOMKilled' ? ' (out of memory)' : ''
    const how =
      ended && textOf(`its container exited with code ${ended.exitCode}${why}`, ended.message)
    const { waiting } = state ?? {}
    if (how) return waiting?.reason ? `${waiting.reason}, ${how}` : how
    if (waiting && (isLate || !usualWaits.includes(waiting.reason)))
      return textOf(waiting.reason, waiting.message)
  }
  return isLate ? 'it runs but is not ready' : null
}

function textOf(reason = 'no reason given', message = ''): string {
  const words = message.replaceAll(/\s+/g, ' ').trim()
  const end = words.length <= maxCharacters ? words : `…${words.slice(1 - maxCharacters)}`
  return end === '' ? reason : `${reason}: ${end}`
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? ''
}
