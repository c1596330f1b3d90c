// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import {
  type ConditionTable,
  rpcRouterConditions,
  upstreamProviderConditions,
} from '../api/conditions.ts'
import { type EventReason, eventReasons } from '../api/events.ts'
import type { Condition, RpcRouterStatus } from '../api/status.ts'
import type { Occurrence } from '../kube/event-recorder.ts'
import type { Deployment } from '../resources/kinds.ts'
import { contentHashAnnotation, secretHashAnnotation } from '../resources/labels.ts'

/** One observed condition. `settle` adds its generation and transition time. */
export interface ObservedCondition<Type extends string = string> extends Omit<
  Condition,
  'lastTransitionTime' | 'observedGeneration'
> {
  readonly type: Type
}

/** Maximum length of a message, well below the API's 32,768 characters. */
const maxMessageLength = 4096

/** Returns a constructor of conditions. The table maps each reason to a status. */
function findingsOf<M extends ConditionTable>(table: M) {
  return <T extends keyof M & string>(
    type: T,
    reason: keyof M[T] & string,
    message: string,
  ): ObservedCondition<T> => {
    const status = table[type]?.[reason] ?? 'Unknown'
    return { type, status, reason, message: cut(message) }
  }
}

/** Creates a condition of an RpcRouter. */
export const routerFinding = findingsOf(rpcRouterConditions)
/** Creates a condition of an UpstreamProvider. */
export const providerFinding = findingsOf(upstreamProviderConditions)

/**
 * Completes conditions. Each keeps its last transition time until its status changes.
 * @param now RFC 3339
 */
export function settle(
  findings: readonly ObservedCondition[],
  before: readonly Condition[] | undefined,
  observedGeneration: number,
  now: string,
): Condition[] {
  return findings.map((finding) => {
    const known = before?.find(({ type }) => type === finding.type)
    const isSame = known?.status === finding.status
    const lastTransitionTime = isSame ? known.lastTransitionTime : now
    return { ...finding, observedGeneration, lastTransitionTime }
  })
}

function cut(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`
}

/** Joins distinct sentences, and ends each with a full stop. */
export function sentences(texts: readonly string[]): string {
  return [...new Set(texts)].map((text) => (/[.?!]$/.test(text) ? text : `${text}.`)).join(' ')
}

type PodTemplate = Deployment['spec']['template']

/** Whether the pod template changes. */
export function isOtherTemplate(before: PodTemplate | null, after: PodTemplate | null): boolean {
  return after !== null && !isDeepStrictEqual(before, after)
}

type EventContent = Omit<Occurrence, 'regarding'>

export function occurrence(reason: EventReason, note: string): EventContent {
  const { type, action } = eventReasons[reason]
  return { type, reason, action, note }
}

/** Returns the Events for a change to a router's Deployment. */
export function deploymentOccurrences(
  before: Deployment | null,
  after: Deployment | null,
): readonly EventContent[] {
  if (after === null) return []
  const [old, now] = [before, after].map((each) => ({
    template: each?.spec.template ?? null,
    config: each?.metadata.annotations?.[contentHashAnnotation],
    live: each?.metadata.annotations?.[secretHashAnnotation],
    fixed: each?.spec.template.metadata?.annotations?.[secretHashAnnotation],
  })) as [PodInputs, PodInputs]
  const isNew = isOtherTemplate(old.template, now.template)
  const how = isNew ? 'the pods are replaced' : 'the pods reload it'
  if (before === null)
    return [occurrence('ConfigRendered', `Config ${now.config} was applied: the first pods start`)]
  if (old.config !== now.config)
    return [occurrence('ConfigRendered', `Config ${now.config} was applied: ${how}`)]
  if (old.fixed !== now.fixed || old.live !== now.live)
    return [occurrence('SecretRotated', `The values of Secrets changed: ${how}`)]
  return isNew ? [occurrence('RolloutStarted', 'The pod template changed')] : []
}

interface PodInputs {
  readonly template: PodTemplate | null
  readonly config: string | undefined
  readonly live: string | undefined
  readonly fixed: string | undefined
}

type Conditions = Pick<RpcRouterStatus, 'conditions'>

/**
 * Returns the Events for a status change of a router or a provider.
 * @param refused the reason of the Event for an object that is not accepted
 */
export function conditionOccurrences(
  refused: EventReason,
  before: Conditions | undefined,
  after: Conditions,
): readonly EventContent[] {
  const wasPaused = before?.conditions?.some(({ reason }) => reason === 'Paused')
  const changed = changedConditions(before?.conditions, after.conditions)
  return changed.flatMap(({ type, reason, status, message }): readonly EventContent[] => {
    if (type === 'Accepted' && status === 'False') return [occurrence(refused, message)]
    // If a router has no status, its rollout may have been complete for a long time.
    if (reason === 'RolloutComplete' && !before) return []
    // An Event has the reason of its condition, and a missing key counts as a missing object.
    const name = reason.replace('KeyNotFound', 'NotFound')
    return [
      ...(wasPaused && type === 'Programmed' ? [occurrence('Resumed', message)] : []),
      ...(isEventReason(name) && name !== 'NotAccepted' ? [occurrence(name, message)] : []),
    ]
  })
}

function isEventReason(name: string): name is EventReason {
  return Object.hasOwn(eventReasons, name)
}

function changedConditions(
  before: readonly Condition[] = [],
  after: readonly Condition[] = [],
): readonly Condition[] {
  return after.filter(({ type, reason, status }) => {
    const known = before.find((condition) => condition.type === type)
    return known?.reason !== reason || known.status !== status
  })
}
