// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition, RpcRouterStatus, UpstreamProviderStatus } from '../api/status.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Deployment } from '../resources/kinds.ts'
import { type ObservedCondition, providerFinding, routerFinding, settle } from './condition-set.ts'
import { type RouterResult, programmedOf, routerStatuses } from './provider-status.ts'
import { availability, fleetFigures, readyOfWanted } from './rollout.ts'

/** An object that does not fit the types of this operator: it was stored under older types. */
export interface InvalidObject<S> {
  readonly object: KubeObject & { readonly status?: S | undefined }
  /** What does not fit. */
  readonly faults: string
  /** RFC 3339. */
  readonly now: string
}

/** The status of such a router. Its fleet goes on, and so do the conditions of the fleet. */
export function invalidRouterStatus(
  { object, faults, now }: InvalidObject<RpcRouterStatus>,
  deployment: Deployment | null,
): RpcRouterStatus {
  const { status, metadata } = object
  const findings = [
    routerFinding('Accepted', 'InvalidSpec', faults),
    routerFinding('Programmed', 'NotAccepted', 'Nothing was changed.'),
    availability({ pod: { maxUnavailable: 1 } }, deployment, false),
    routerFinding('Ready', 'NotAccepted', `Accepted is False: ${faults}`),
  ]
  return {
    ...status,
    ...(deployment && fleetFigures(deployment)),
    observedGeneration: metadata.generation ?? 0,
    conditions: overlay(status?.conditions, findings, metadata.generation ?? 0, now),
    ...(status?.summary && {
      summary: { ...status.summary, ...(deployment && { replicas: readyOfWanted(deployment) }) },
    }),
  }
}

/** The same for a provider. */
export function invalidProviderStatus(
  { object, faults, now }: InvalidObject<UpstreamProviderStatus>,
  routers: readonly RouterResult[],
): UpstreamProviderStatus {
  const { status, metadata } = object
  const findings = [
    providerFinding('Accepted', 'InvalidSpec', faults),
    providerFinding('Ready', 'NotAccepted', `Accepted is False: ${faults}`),
  ]
  return {
    ...status,
    observedGeneration: metadata.generation ?? 0,
    conditions: overlay(status?.conditions, findings, metadata.generation ?? 0, now),
    routers: routerStatuses(routers, status, metadata.generation ?? 0, now, null),
    ...(status?.summary && { summary: { ...status.summary, routers: programmedOf(routers) } }),
  }
}

/** Replaces the conditions of the types that were found; the others stay as they are. */
function overlay(
  before: readonly Condition[] = [],
  findings: readonly ObservedCondition[],
  generation: number,
  now: string,
): Condition[] {
  const settled = settle(findings, before, generation, now)
  const found = new Set(settled.map(({ type }) => type))
  return [...settled, ...before.filter(({ type }) => !found.has(type))]
}
