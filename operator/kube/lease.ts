// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { microTime } from './clock.ts'
import type { KubeObject, ObjectRef } from './object.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** Instants have six digits behind the second: see `microTime`. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

export const leases: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
}

export interface Claim {
  readonly identity: string
  readonly leaseMs: number
  readonly wallMs: number
}

/** The lease as it is to be written by who takes or keeps it. */
export function claimed(
  ref: Required<ObjectRef>,
  present: Lease | null,
  { identity, leaseMs, wallMs }: Claim,
): Lease {
  const { holderIdentity, acquireTime, leaseTransitions = 0 } = present?.spec ?? {}
  const isOurs = holderIdentity === identity
  const now = microTime(wallMs)
  return {
    ...(present ?? { apiVersion: apiVersionOf(leases), kind: leases.kind, metadata: { ...ref } }),
    spec: {
      ...present?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: isOurs ? (acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: present === null || isOurs ? leaseTransitions : leaseTransitions + 1,
    },
  }
}

/** The lease without holder: whoever sees it may take it at once. */
export function released(present: Lease, wallMs: number): Lease {
  return {
    ...present,
    spec: {
      ...present.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTime(wallMs),
    },
  }
}
