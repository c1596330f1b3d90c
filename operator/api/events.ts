// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { rpcRouterNames, upstreamProviderNames } from './group.ts'

/** What an Event means. */
export interface EventMeaning {
  readonly type: 'Normal' | 'Warning'
  /** What was being done. */
  readonly action: 'Render' | 'Resolve' | 'Apply' | 'Rollout' | 'Pause'
  /** The kinds that it is told about. */
  readonly of: readonly (typeof rpcRouterNames.kind | typeof upstreamProviderNames.kind)[]
  readonly when: string
}

const router = ['RpcRouter'] as const
const provider = ['UpstreamProvider'] as const
const both = ['RpcRouter', 'UpstreamProvider'] as const

/**
 * Every Event of the operator, by its reason: one for each change, with its result. `docs/reference/events.md` is made of
 * this table; each warning has a runbook of its name.
 */
export const eventReasons = {
  ConfigRendered: {
    type: 'Normal',
    action: 'Render',
    of: router,
    when: 'The router or its providers changed, and the pods get another config; the note has its hash.',
  },
  RolloutStarted: {
    type: 'Normal',
    action: 'Rollout',
    of: router,
    when: 'The pods changed in another way: their image, their resources.',
  },
  RolloutComplete: {
    type: 'Normal',
    action: 'Rollout',
    of: router,
    when: 'All pods are of the newest revision and ready.',
  },
  SecretRotated: {
    type: 'Normal',
    action: 'Resolve',
    of: router,
    when: 'A key of a Secret that the pods use has another value: they are replaced.',
  },
  Paused: {
    type: 'Normal',
    action: 'Pause',
    of: router,
    when: 'The annotation rpcrouter.dev/paused was set: nothing is changed.',
  },
  Resumed: {
    type: 'Normal',
    action: 'Pause',
    of: router,
    when: 'The annotation rpcrouter.dev/paused is gone, or "false".',
  },
  NotAccepted: {
    type: 'Warning',
    action: 'Render',
    of: router,
    when: 'No config that the router would start with can be made of it. The last good one keeps serving.',
  },
  InvalidProvider: {
    type: 'Warning',
    action: 'Render',
    of: provider,
    when: 'A router that selects it cannot use it as it is written. The others go on.',
  },
  SecretNotFound: {
    type: 'Warning',
    action: 'Resolve',
    of: both,
    when: 'A Secret, or a key of it, that is referred to does not exist.',
  },
  ConfigMapNotFound: {
    type: 'Warning',
    action: 'Resolve',
    of: both,
    when: 'A ConfigMap, or a key of it, that is referred to does not exist.',
  },
  NameConflict: {
    type: 'Warning',
    action: 'Apply',
    of: router,
    when: 'An object of a name that the router needs belongs to somebody else.',
  },
  StillDeleting: {
    type: 'Normal',
    action: 'Apply',
    of: router,
    when: 'An object that the router needs is still being deleted: its own, or one of an earlier router of this name. It is waited for.',
  },
  FieldsContested: {
    type: 'Warning',
    action: 'Apply',
    of: router,
    when: 'Another writer sets fields of an object of the router as fast as the operator takes them back, or three times within five minutes.',
  },
  ApplyFailed: {
    type: 'Warning',
    action: 'Apply',
    of: router,
    when: 'The API server refused an object, or failed at it for a while; the note has its answer.',
  },
  ReplicaFailure: {
    type: 'Warning',
    action: 'Rollout',
    of: router,
    when: 'Kubernetes cannot create a pod; the note has its words.',
  },
  RolloutStalled: {
    type: 'Warning',
    action: 'Rollout',
    of: router,
    when: 'New pods did not become ready within progressDeadlineSeconds. The old ones keep serving.',
  },
} as const satisfies Readonly<Record<string, EventMeaning>>

/** Why something is told about an object. */
export type EventReason = keyof typeof eventReasons
