// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { Condition, RpcRouterStatus, UpstreamProviderStatus } from '../api/status.ts'
import { type EventReason, eventReasons } from '../api/events.ts'
import type { Occurrence } from '../kube/event-recorder.ts'
import type { Deployment } from '../resources/kinds.ts'
import { configHashAnnotation, secretHashAnnotation } from '../resources/labels.ts'

/** What the pods of a Deployment are made of. */
type PodTemplate = Deployment['spec']['template']

/** Whether the pods are asked to become others. */
export function isOtherTemplate(before: PodTemplate | null, after: PodTemplate | null): boolean {
  return after !== null && !isDeepStrictEqual(before, after)
}

type Told = Omit<Occurrence, 'regarding'>

function occurrence(reason: EventReason, note: string): Told {
  const { type, action } = eventReasons[reason]
  return { type, reason, action, note }
}

/** What people are told when the pods of a router are asked to become others. */
export function templateOccurrences(
  before: PodTemplate | null,
  after: PodTemplate | null,
): readonly Told[] {
  if (after === null || !isOtherTemplate(before, after)) return []
  const [old, now] = [before?.metadata?.annotations, after.metadata?.annotations]
  const config = now?.[configHashAnnotation]
  if (old?.[configHashAnnotation] !== config)
    return [occurrence('ConfigRendered', `Config ${config} was applied`)]
  if (old?.[secretHashAnnotation] !== now?.[secretHashAnnotation])
    return [occurrence('SecretRotated', 'The values of Secrets changed: the pods are replaced')]
  return [occurrence('RolloutStarted', 'The template of the pods was changed')]
}

/** What people are told when the status of a router changes. */
export function routerOccurrences({ status }: RpcRouter, after: RpcRouterStatus): readonly Told[] {
  return conditionOccurrences('NotAccepted', status, after)
}

/** What people are told when the status of a provider changes. */
export function providerOccurrences(
  { status }: { readonly status?: UpstreamProviderStatus | undefined },
  after: UpstreamProviderStatus,
): readonly Told[] {
  return conditionOccurrences('InvalidProvider', status, after)
}

type Conditions = Pick<RpcRouterStatus, 'conditions'>

/** @param refused what is told of an object that is not accepted */
function conditionOccurrences(
  refused: EventReason,
  before: Conditions | undefined,
  after: Conditions,
): readonly Told[] {
  const wasPaused = before?.conditions?.some(({ reason }) => reason === 'Paused')
  const changed = changedConditions(before?.conditions, after.conditions)
  return changed.flatMap(({ type, reason, status, message }): readonly Told[] => {
    if (type === 'Accepted' && status === 'False') return [occurrence(refused, message)]
    // At first sight, all pods may be of the newest revision for a long time.
    if (reason === 'RolloutComplete' && !before) return []
    // An Event has the name of the reason that it tells; of a key, that of its object.
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
