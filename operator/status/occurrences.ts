// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { UpstreamProviderStatus } from '../api/upstream-provider-status.ts'
import type { Condition } from '../api/condition.ts'
import type { Occurrence } from '../kube/event-recorder.ts'
import { occurrenceTable, type OccurrenceReason } from './occurrence-table.ts'

/** What the pods of a Deployment are made of, as far as events tell of it. */
export interface Revision {
  readonly configHash: string | undefined
  readonly secretHash: string | undefined
  readonly generation: number | undefined
}

type Told = Omit<Occurrence, 'regarding'>

function occurrence(reason: OccurrenceReason, note: string): Told {
  const { type, action } = occurrenceTable[reason]
  return { type, reason, action, note }
}

/** What people are told when the pods of a router are asked to become others. */
export function revisionOccurrences(
  before: Revision | null,
  after: Revision | null,
): readonly Told[] {
  if (after === null || before?.generation === after.generation) return []
  if (before?.configHash !== after.configHash)
    return [occurrence('ConfigRendered', `Config ${after.configHash} was applied`)]
  if (before?.secretHash !== after.secretHash)
    return [occurrence('SecretRotated', 'The values of Secrets changed: the pods are replaced')]
  return [occurrence('RolloutStarted', 'The Deployment was changed')]
}

const warnings: Readonly<Record<string, readonly [condition: string, reason: OccurrenceReason]>> = {
  SecretNotFound: ['ResolvedRefs', 'SecretNotFound'],
  SecretKeyNotFound: ['ResolvedRefs', 'SecretNotFound'],
  NameConflict: ['Programmed', 'NameConflict'],
  RolloutStalled: ['Progressing', 'RolloutStalled'],
}

/** What people are told when the status of a router changes. */
export function routerOccurrences({ status }: RpcRouter, after: RpcRouterStatus): readonly Told[] {
  const changed = changedConditions(status?.conditions, after.conditions)
  const told = changed.flatMap(({ type, reason, message }): readonly Told[] => {
    const warning = warnings[reason]
    if (warning?.[0] === type) return [occurrence(warning[1], message)]
    const isEnd = type === 'Progressing' && reason === 'RolloutComplete'
    return isEnd && status !== undefined ? [occurrence('RolloutComplete', message)] : []
  })
  return told
}

/** What people are told when the status of a provider changes. */
export function providerOccurrences(
  { status }: UpstreamProvider,
  after: UpstreamProviderStatus,
): readonly Told[] {
  return changedConditions(status?.conditions, after.conditions).flatMap(
    ({ type, reason, status: holds, message }): readonly Told[] => {
      if (holds !== 'False') return []
      if (type === 'Accepted') return [occurrence('InvalidProvider', message)]
      return warnings[reason]?.[0] === type ? [occurrence('SecretNotFound', message)] : []
    },
  )
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
