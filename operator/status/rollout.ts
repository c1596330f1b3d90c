// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { Deployment, Pod, StatefulSet } from '../resources/kinds.ts'
import { contentHashAnnotation } from '../resources/labels.ts'
import { portsIn } from '../resources/ports.ts'
import { type Finding, routerFinding, sentences } from './condition-set.ts'

/** Pods of a Deployment, as it counts them. */
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

/** The figures of the pods of a router in its status, independent of its spec. */
export function fleetFigures(deployment: Deployment | null) {
  return {
    configHash: deployment?.metadata.annotations?.[contentHashAnnotation],
    image: deployment?.spec.template.spec?.containers[0]?.image,
    ...countsOf(deployment),
  } satisfies RpcRouterStatus
}

/** How many ports are open: those of the config that pods were made with, while any of them is there. */
export function openListeners(deployment: Deployment | null): number {
  if (deployment === null || countsOf(deployment).availableReplicas === 0) return 0
  return portsIn(deployment.spec.template.metadata?.annotations).listen.length
}

/** Whether the Deployment has given up waiting for new pods. */
export function isStalled(deployment: Deployment | null): boolean {
  return (
    deployment !== null &&
    isSeen(deployment) &&
    conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded'
  )
}

/** What a Deployment says while it makes pods, and not when it has given up, is paused, or is not let. */
const rollingReasons = ['NewReplicaSetCreated', 'FoundNewReplicaSet', 'ReplicaSetUpdated']

/** Whether pods are being replaced. */
export function isRolling(deployment: Deployment | null): boolean {
  if (deployment === null) return false
  const { reason = '' } = conditionOf(deployment, 'Progressing') ?? {}
  return !isSeen(deployment) || rollingReasons.includes(reason)
}

/** Whether the pod of a Redis is being replaced; also for ever, when the new one does not start. */
export function isRestarting(redis: StatefulSet | null): boolean {
  if (redis === null) return false
  const { currentRevision, updateRevision } = redis.status ?? {}
  return !isSeen(redis) || currentRevision !== updateRevision
}

function conditionOf({ status }: Deployment | Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** `2/3`. */
export function readyOfWanted(deployment: Deployment | null): string {
  if (deployment === null) return '0/0'
  return `${countsOf(deployment).readyReplicas}/${wantedBy(deployment)}`
}

/**
 * Whether enough pods are ready, of whatever revision: as many as are left when nodes are drained.
 *
 * @param isGood of the present config: without a Deployment it was not applied
 */
export function availability(
  spec: Disruptable,
  deployment: Deployment | null,
  isGood = true,
): Finding<'Available'> {
  if (deployment === null) {
    const message = isGood ? 'Nothing runs yet: see Programmed.' : 'No config has been good yet.'
    return routerFinding('Available', 'NotProgrammed', message)
  }
  const wanted = wantedBy(deployment)
  const { availableReplicas: available } = countsOf(deployment)
  if (wanted === 0) return routerFinding('Available', 'ScaledToZero', 'No pod is wanted.')
  const least = minPods(spec, wanted)
  const counts = `${available} of ${wanted} pods are available`
  if (available >= least)
    return routerFinding('Available', 'MinimumReplicasAvailable', `${counts}.`)
  const message = `${counts}, ${least} are the least.`
  return routerFinding('Available', 'MinimumReplicasUnavailable', message)
}

/**
 * Whether as many pods of the newest revision are available as are needed: with them this generation serves. Null while
 * the Deployment has not counted them.
 */
export function isRolledOut(spec: RpcRouterSpec, deployment: Deployment | null): boolean | null {
  if (deployment === null || !isSeen(deployment)) return null
  const { replicas, updatedReplicas, availableReplicas } = countsOf(deployment)
  // The count does not say which pods are available: at worst all that are old.
  const newest = availableReplicas - Math.max(0, replicas - updatedReplicas)
  return newest >= minPods(spec, wantedBy(deployment))
}

/** Of a spec, how many pods may be away. */
interface Disruptable {
  readonly pod: Pick<RpcRouterSpec['pod'], 'maxUnavailable'>
}

function minPods({ pod }: Disruptable, wanted: number): number {
  return Math.max(1, wanted - awayAtMost(pod.maxUnavailable, wanted))
}

/** As a PodDisruptionBudget counts: it rounds a share up, where a Deployment would round it down. */
function awayAtMost(count: number | string, wanted: number): number {
  if (typeof count === 'number') return count
  const amount = Number.parseInt(count, 10)
  return count.endsWith('%') ? Math.ceil((amount * wanted) / 100) : amount
}

/** The controller of Kubernetes has looked at what was applied last. */
function isSeen({ status, metadata }: Deployment | StatefulSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

/**
 * Whether pods of a newest revision are on their way, by the status of the Deployment. A pod that is not ready, or a count
 * that changes, is no rollout.
 *
 * @param before the last finding; it holds until the Deployment reports more, unless `isNew`
 * @param isNew the template was just changed
 * @param problem why a pod is not ready, as far as it is known
 */
export function progress(
  deployment: Deployment | null,
  before: Finding | undefined,
  isNew: boolean,
  problem: string | null = null,
): Finding {
  if (deployment === null)
    return routerFinding('Progressing', 'NotProgrammed', 'Nothing was applied yet.')
  const { updatedReplicas, availableReplicas } = countsOf(deployment)
  const counts = `${updatedReplicas} of ${wantedBy(deployment)} pods are of the newest revision`
  const underWay = `${counts}, ${availableReplicas} are available.`
  if (!isSeen(deployment)) {
    const isKnown = before !== undefined && before.reason !== 'NotProgrammed' && !isNew
    return isKnown ? before : routerFinding('Progressing', 'RolloutInProgress', underWay)
  }
  const failure = conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status === 'True') {
    const message = `Kubernetes does not create a pod: ${failure.message ?? failure.reason ?? 'it does not say why'}`
    return routerFinding('Progressing', 'ReplicaFailure', sentences([message]))
  }
  switch (conditionOf(deployment, 'Progressing')?.reason) {
    case 'NewReplicaSetAvailable':
      return routerFinding('Progressing', 'RolloutComplete', 'All pods are of the newest revision.')
    case 'ProgressDeadlineExceeded': {
      const message = `${counts}; there was no progress for ${deployment.spec.progressDeadlineSeconds} s. The old pods keep serving.`
      const messages = problem === null ? [message] : [message, problem]
      return routerFinding('Progressing', 'RolloutStalled', sentences(messages))
    }
    default:
      return routerFinding('Progressing', 'RolloutInProgress', underWay)
  }
}

/** Of a message: the end of a log says why a process ended. */
const maxCharacters = 512

/**
 * Why the newest of the pods that are not ready is not: the reasons that Kubernetes gives, and the end of the log of a
 * container that ended. Null when all are ready, or there is none.
 */
export function podProblem(pods: readonly Pod[]): string | null {
  const [newest] = pods
    .filter(
      (pod) => !pod.metadata.deletionTimestamp && conditionOf(pod, 'Ready')?.status !== 'True',
    )
    .toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))
  if (newest === undefined) return null
  return `Pod ${newest.metadata.name}: ${problemOf(newest)}`
}

function problemOf(pod: Pod): string {
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') return textOf(scheduled.reason, scheduled.message)
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated
    const how =
      ended && textOf(`its container ended with exit code ${ended.exitCode}`, ended.message)
    const { waiting } = state ?? {}
    if (how) return waiting?.reason ? `${waiting.reason}, ${how}` : how
    if (waiting) return textOf(waiting.reason, waiting.message)
  }
  return 'it runs and is not ready'
}

function textOf(reason = 'it does not say why', message = ''): string {
  const words = message.replaceAll(/\s+/g, ' ').trim()
  const end = words.length <= maxCharacters ? words : `…${words.slice(1 - maxCharacters)}`
  return end === '' ? reason : `${reason}: ${end}`
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? ''
}
