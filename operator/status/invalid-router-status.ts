// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition } from '../api/condition.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import type { UpstreamProviderStatus } from '../api/upstream-provider-status.ts'
import type { KubeObject } from '../kube/object.ts'
import { providerFinding, routerFinding, settle } from './condition-set.ts'

type WithStatus = KubeObject & { readonly status?: { readonly conditions?: Condition[] } }

/** The status of a router that does not fit the types of this operator: stored before they were as they are. */
export function invalidRouterStatus(
  object: KubeObject,
  faults: string,
  now: string,
): RpcRouterStatus {
  const { status, metadata } = object as WithStatus
  const generation = metadata.generation ?? 0
  const findings = [
    routerFinding('Accepted', 'InvalidSpec', faults),
    routerFinding('Programmed', 'NotAccepted', 'Nothing was changed.'),
    routerFinding('Ready', 'NotAccepted', `Accepted is False: ${faults}`),
  ]
  return {
    observedGeneration: generation,
    conditions: settle(findings, status?.conditions, generation, now),
  }
}

/** The same for a provider. */
export function invalidProviderStatus(
  object: KubeObject,
  faults: string,
  now: string,
): UpstreamProviderStatus {
  const { status, metadata } = object as WithStatus
  const generation = metadata.generation ?? 0
  const findings = [
    providerFinding('Accepted', 'InvalidSpec', faults),
    providerFinding('Ready', 'NotAccepted', `Accepted is False: ${faults}`),
  ]
  return {
    observedGeneration: generation,
    conditions: settle(findings, status?.conditions, generation, now),
  }
}
