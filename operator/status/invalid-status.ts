// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition, RpcRouterStatus, UpstreamProviderStatus } from '../api/status.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Deployment } from '../resources/kinds.ts'
import { type ObservedCondition, providerFinding, routerFinding, settle } from './condition-set.ts'
import { type RouterResult, programmedOf, routerStatuses } from './provider-status.ts'
import { availability, fleetFigures, readyOfWanted } from './rollout.ts'

/** An object that does not match this operator's schema, such as one from an older version. */
export interface InvalidObject<S> {
  readonly object: KubeObject & { readonly status?: S | undefined }
  /** The validation errors. */
  readonly faults: string
  /** RFC 3339. */
  readonly now: string
}

/** Returns the status of an invalid router. Its fleet keeps running, with up-to-date conditions. */
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

/** Returns the status of an invalid provider. */
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

/** Replaces the conditions of the found types, and leaves the others unchanged. */
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
