// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pausedAnnotation } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { Deployment, HorizontalPodAutoscaler } from '../resources/kinds.ts'
import { selectorLabels } from '../resources/labels.ts'
import { objectName } from '../translate/object-names.ts'
import { type ProviderOutcome, type Translation, violationText } from '../translate/translation.ts'
import { type ObservedCondition, routerFinding, sentences, settle } from './condition-set.ts'
import { isDark, listenerIn, lostStoresIn } from './fleet-health.ts'
import type { PodView } from './fleet-view.ts'
import type { Observations } from './provider-health.ts'
import {
  availability,
  fleetFigures,
  isRolledOut,
  type LostStore,
  openPorts,
  progress,
  readyOfWanted,
} from './rollout.ts'
import { counted } from '../../proxy/words/counted.ts'
import type { RolloutStop } from './rollout-stop.ts'

/** Result of applying a router's objects. */
export type Applied =
  | { readonly result: 'applied' }
  /** Nothing was applied: the config is invalid, or the router is paused. */
  | { readonly result: 'skipped' }
  | { readonly result: keyof typeof failures; readonly message: string }

const failures = {
  /** A foreign object has a name that the router needs. */
  conflict: 'NameConflict',
  /** An object with a name that the router needs is still being deleted. */
  waiting: 'StillDeleting',
  /** The API server refused an object or failed. */
  refused: 'ApplyFailed',
  /** All rollout slots are taken. */
  queued: 'RolloutQueued',
} as const

/** All inputs of a router's status. */
export interface RouterObservation {
  readonly router: RpcRouter
  readonly translation: Translation
  readonly applied: Applied
  /** Whether it has no Service of its own, so that clients cannot reach it. */
  readonly isCutOff?: boolean
  /** Null if it does not exist. */
  readonly deployment: Deployment | null
  readonly autoscaler?: HorizontalPodAutoscaler | null
  /** The wanted kind of monitor if the cluster lacks it; otherwise null. */
  readonly missingMonitor: string | null
  /** Whether the pod template just changed. */
  readonly rollsOut: boolean
  /** Why a pod is not ready, if known. */
  readonly podProblem?: string | null
  /** Unavailable Redis instances of the operator. */
  readonly lost?: readonly LostStore[]
  /** Pods last observed with another config; null before the first observation. */
  readonly behind?: readonly Pick<PodView, 'pod' | 'isRefusing'>[] | null
  /** Pods whose refusal made the operator restore the last good config; null if it did not. */
  readonly refusedBy?: readonly string[] | null
  readonly observations?: Observations
  /** Why its rollout is stopped; null if it is not. */
  readonly stop?: RolloutStop | null
  /** RFC 3339. */
  readonly now: string
}

/**
 * Whether the annotation pauses the router. Any value except `false` and the empty one does, so
 * that `True` and `yes` also work.
 */
export function isPaused({ metadata }: RpcRouter): boolean {
  const word = metadata.annotations?.[pausedAnnotation]?.trim().toLowerCase() ?? ''
  return word !== '' && word !== 'false'
}

/** Returns the status of a router. */
export function routerStatus(observation: RouterObservation): RpcRouterStatus {
  const { router, deployment, isCutOff = false, autoscaler, now } = observation
  const { metadata, status } = router
  const { desiredReplicas, conditions } = autoscaler?.status ?? {}
  const selector = Object.entries(selectorLabels(router, 'router'))
  const listeners = listenersOf(observation)
  const ports = isCutOff ? [] : openPorts(deployment)
  const serving = listeners.filter((each) => ports.includes(each.port) && !isDark(each))
  const found = findings(observation, listeners)
  return {
    observedGeneration: metadata.generation,
    conditions: settle(found, status?.conditions, metadata.generation, now),
    ...fleetFigures(deployment),
    ...(conditions && { autoscaling: { desiredReplicas, conditions } }),
    selector: selector.map(([key, value]) => `${key}=${value}`).join(','),
    listeners,
    summary: {
      replicas: readyOfWanted(deployment),
      providers: providersSummary(observation),
      listeners: ports.length,
      serving: `${serving.length}/${listeners.length}`,
    },
  }
}

type Listeners = NonNullable<RpcRouterStatus['listeners']>

function listenersOf(observation: RouterObservation): Listeners {
  const { router, translation, isCutOff = false, observations = null } = observation
  const host = `${objectName(router)}.${router.metadata.namespace}.svc`
  return translation.endpoints.map(({ endpoint, serves, upstreams, served }) => {
    const { name, port, chainId, apiInterface } = endpoint
    const before = router.status?.listeners?.find((each) => each.name === name)
    const scheme = apiInterface === 'grpc' ? 'grpc' : 'http'
    return {
      ...{ name, port, chainId, apiInterface },
      ...(served && !isCutOff && { url: `${scheme}://${host}:${port}` }),
      providers: upstreams,
      ...listenerIn(observations, serves, before),
    }
  })
}

/** `5/6`: providers in use, out of those with an endpoint. A blocked router keeps its own. */
function providersSummary({ router, translation, deployment }: RouterObservation): string {
  const relevant = translation.providers.filter((provider) => !isElsewhere(provider))
  const used = relevant.filter(({ isUsed }) => isUsed).length
  if (translation.config !== null) return `${used}/${relevant.length}`
  const before = Number.parseInt(router.status?.summary?.providers ?? '0', 10)
  return `${deployment === null ? 0 : Math.min(before, relevant.length)}/${relevant.length}`
}

/** Whether a provider's chain is not served here, so that it is probably for another router. */
function isElsewhere({ refusals }: ProviderOutcome): boolean {
  return refusals.some(({ reason }) => reason === 'ChainNotServed')
}

function findings(
  observation: RouterObservation,
  listeners: Listeners,
): readonly ObservedCondition[] {
  const { router, translation, deployment, rollsOut, podProblem, stop = null } = observation
  const before = (wanted: string) => router.status?.conditions?.find(({ type }) => type === wanted)
  const progressing = progress(deployment, before('Progressing'), rollsOut, podProblem, stop)
  const conditions = [
    acceptance(translation),
    resolution(translation),
    programming(observation),
    availabilityOf(observation, listeners, before('Available')),
  ]
  const ready = before('Ready')
  const wasReady = ready?.status === 'True'
  const isReached =
    stop === null && (isRolledOut(router.spec, deployment) ?? (wasReady && !rollsOut))
  // While a rollout of this generation is queued, such as after an upgrade, its pods still serve.
  const serveOn =
    observation.applied.result === 'queued' &&
    ready?.observedGeneration === router.metadata.generation &&
    (wasReady || ready.reason === 'NotAvailable')
  const needed = serveOn ? conditions.filter(({ type }) => type !== 'Programmed') : conditions
  return [...conditions, progressing, readiness(needed, isReached ? null : progressing)]
}

/** @param before stays until two observations of the stores agree */
function availabilityOf(
  {
    router,
    translation,
    deployment,
    podProblem,
    lost = [],
    observations = null,
  }: RouterObservation,
  listeners: Listeners,
  before: ObservedCondition | undefined,
): ObservedCondition<'Available'> {
  const dark = listeners.filter(isDark).map(({ name, message }) => {
    return `No upstream of the listener ${name} serves${message ? `: ${message}` : ''}`
  })
  const stores = lostStoresIn(observations)
  const all = [...lost, ...(stores ?? [])]
  const isValid = translation.config !== null
  const found = availability(router.spec, deployment, isValid, podProblem, all, dark)
  const isUnsettled = stores === null && found.status === 'True'
  return isUnsettled && before?.reason === 'RedisUnavailable'
    ? { ...before, type: 'Available' }
    : found
}

function acceptance({ refusals, providers, notes }: Translation): ObservedCondition<'Accepted'> {
  const [first] = refusals
  if (first !== undefined)
    return routerFinding('Accepted', first.reason, sentences(refusals.map(violationText)))
  const others = providers.filter((provider) => !provider.isUsed && !isElsewhere(provider))
  if (others.length === 0)
    return routerFinding('Accepted', 'Accepted', sentences(['The config is valid', ...notes]))
  const named = others.map(({ provider, refusals: why, unresolvedRefs }) => {
    const reason = why[0]?.reason ?? unresolvedRefs[0]?.reason ?? 'unused'
    return `UpstreamProvider ${provider} is excluded (${reason})`
  })
  return routerFinding('Accepted', 'PartiallyAccepted', sentences([...named, ...notes]))
}

function resolution({ unresolvedRefs }: Translation): ObservedCondition<'ResolvedRefs'> {
  const [first] = unresolvedRefs
  const text = 'All references that endpoints need are resolved.'
  if (first === undefined) return routerFinding('ResolvedRefs', 'ResolvedRefs', text)
  return routerFinding('ResolvedRefs', first.reason, sentences(unresolvedRefs.map(violationText)))
}

function programming({
  router,
  applied,
  deployment,
  missingMonitor,
  behind = [],
  refusedBy = null,
}: RouterObservation): ObservedCondition<'Programmed'> {
  if (isPaused(router)) {
    const message = `The annotation ${pausedAnnotation} has a value other than "false": the operator changes nothing.`
    return routerFinding('Programmed', 'Paused', message)
  }
  if (applied.result === 'skipped')
    return routerFinding('Programmed', 'NotAccepted', heldText(deployment))
  if (applied.result !== 'applied') {
    const { result, message } = applied
    // Answers of the API server are quoted verbatim.
    const isOwn = result === 'waiting' || result === 'queued'
    return routerFinding('Programmed', failures[result], isOwn ? sentences([message]) : message)
  }
  const before = router.status?.conditions?.find(({ type }) => type === 'Programmed')
  if (refusedBy !== null) {
    if (refusedBy.length === 0 && before?.reason === 'LastGoodRestored')
      return { ...before, type: 'Programmed' }
    const by = refusedBy.length === 0 ? 'A pod' : `Pod ${named(refusedBy)}`
    const message = `${by} refuses this config, and no pod serves it: see the log. The last good config is restored, also for new pods`
    const hint =
      'The operator tries again with the next change to the router, a provider or the image'
    return routerFinding('Programmed', 'LastGoodRestored', sentences([message, hint]))
  }
  if (behind === null && before?.reason === 'ConfigPending')
    return { ...before, type: 'Programmed' }
  if (behind !== null && behind.length > 0) {
    const refusing = behind.filter(({ isRefusing }) => isRefusing)
    const still = counted(behind.length, 'pod still serves', 'pods still serve')
    const message = `All objects are applied, but ${still} another config: ${named(behind.map(({ pod }) => pod))}`
    const refused = `Refused by ${named(refusing.map(({ pod }) => pod))}: see the log`
    const messages = refusing.length === 0 ? [message] : [message, refused]
    return routerFinding('Programmed', 'ConfigPending', sentences(messages))
  }
  if (missingMonitor === null)
    return routerFinding('Programmed', 'Programmed', 'All objects are applied.')
  const message = `All objects except the ${missingMonitor} are applied: the cluster does not have this kind, or the operator may not list it (rbac.monitors of the chart). It checks every minute.`
  return routerFinding('Programmed', 'ProgrammedWithoutMonitor', message)
}

/** Lists up to three names. */
function named(pods: readonly string[]): string {
  return (pods.length > 3 ? [...pods.slice(0, 3), '…'] : pods).join(', ')
}

function heldText(deployment: Deployment | null): string {
  if (deployment === null) return 'Nothing runs yet.'
  const isServing = (deployment.status?.availableReplicas ?? 0) > 0
  return isServing
    ? 'The last good config keeps serving.'
    : 'The last good config stays in place, but no pod is available.'
}

const consequences = {
  Accepted: 'NotAccepted',
  ResolvedRefs: 'RefsNotResolved',
  Programmed: 'NotProgrammed',
  Available: 'NotAvailable',
} as const

/** @param underWay state of the rollout if too few pods have this generation; otherwise null */
function readiness(
  conditions: readonly ObservedCondition<keyof typeof consequences>[],
  underWay: ObservedCondition | null,
): ObservedCondition<'Ready'> {
  const worst = conditions.find(({ status }) => status !== 'True')
  if (worst === undefined && underWay !== null)
    return routerFinding('Ready', 'NotRolledOut', `Older pods serve. ${underWay.message}`)
  if (worst === undefined) return routerFinding('Ready', 'Ready', 'This generation serves.')
  const reason = consequences[worst.type]
  return routerFinding('Ready', reason, `${worst.type} is ${worst.status}: ${worst.message}`)
}
