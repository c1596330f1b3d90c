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

/** Events that a condition is told by when it gets a reason. */
const eventOfReason: Readonly<Record<string, Readonly<Record<string, EventReason>>>> = {
  ResolvedRefs: {
    SecretNotFound: 'SecretNotFound',
    SecretKeyNotFound: 'SecretNotFound',
    ConfigMapNotFound: 'ConfigMapNotFound',
    ConfigMapKeyNotFound: 'ConfigMapNotFound',
  },
  Programmed: {
    NameConflict: 'NameConflict',
    StillDeleting: 'StillDeleting',
    FieldsContested: 'FieldsContested',
    ApplyFailed: 'ApplyFailed',
    Paused: 'Paused',
  },
  Progressing: { RolloutStalled: 'RolloutStalled', ReplicaFailure: 'ReplicaFailure' },
}

/** What people are told when the status of a router changes. */
export function routerOccurrences({ status }: RpcRouter, after: RpcRouterStatus): readonly Told[] {
  const before = status?.conditions
  const wasPaused = before?.find(({ type }) => type === 'Programmed')?.reason === 'Paused'
  return changedConditions(before, after.conditions).flatMap((condition): readonly Told[] => {
    const { type, reason, status: holds, message } = condition
    const resumed = wasPaused && type === 'Programmed' ? [occurrence('Resumed', message)] : []
    if (type === 'Accepted' && holds === 'False') return [occurrence('NotAccepted', message)]
    // At first sight, all pods may be of the newest revision for a long time.
    const isEnd = type === 'Progressing' && reason === 'RolloutComplete' && status !== undefined
    if (isEnd) return [occurrence('RolloutComplete', message)]
    return [...resumed, ...byReason(condition)]
  })
}

/** What people are told when the status of a provider changes. */
export function providerOccurrences(
  { status }: { readonly status?: UpstreamProviderStatus | undefined },
  after: UpstreamProviderStatus,
): readonly Told[] {
  const changed = changedConditions(status?.conditions, after.conditions)
  return changed.flatMap((condition): readonly Told[] => {
    const { type, status: holds, message } = condition
    const isRefused = type === 'Accepted' && holds === 'False'
    return isRefused ? [occurrence('InvalidProvider', message)] : byReason(condition)
  })
}

function byReason({ type, reason, message }: Condition): readonly Told[] {
  const told = eventOfReason[type]?.[reason]
  return told === undefined ? [] : [occurrence(told, message)]
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
