// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { rpcRouterNames, upstreamProviderNames } from './group.ts'

/** What an Event means. */
export interface EventMeaning {
  readonly type: 'Normal' | 'Warning'
  /** What was being done. */
  readonly action: 'Render' | 'Resolve' | 'Apply' | 'Rollout' | 'Pause'
  /** The kinds of the objects that it is about. */
  readonly of: readonly (typeof rpcRouterNames.kind | typeof upstreamProviderNames.kind)[]
  readonly when: string
}

function event(type: EventMeaning['type'], of: EventMeaning['of']) {
  return (action: EventMeaning['action'], when: string): EventMeaning => ({
    type,
    action,
    of,
    when,
  })
}

const info = event('Normal', ['RpcRouter'])
const warn = event('Warning', ['RpcRouter'])
const warnOfProvider = event('Warning', ['UpstreamProvider'])
const warnOfBoth = event('Warning', ['RpcRouter', 'UpstreamProvider'])

/**
 * Every Event of the operator, by its reason: one for each change, with its result. `docs/reference/events.md` is made of
 * this table; each warning has a runbook of its name.
 */
export const eventReasons = {
  ConfigRendered: info(
    'Render',
    'The router or its providers changed, and the pods get another config; the note has its hash.',
  ),
  RolloutStarted: info('Rollout', 'The pods changed in another way: their image, their resources.'),
  RolloutComplete: info('Rollout', 'All pods are of the newest revision and ready.'),
  SecretRotated: info(
    'Resolve',
    'A key of a Secret that the pods use has another value; the note says whether they take it over or are replaced.',
  ),
  Paused: info('Pause', 'The annotation rpcrouter.dev/paused was set: nothing is changed.'),
  Resumed: info('Pause', 'The annotation rpcrouter.dev/paused is gone, or "false".'),
  NotAccepted: warn(
    'Render',
    'No config that the router would start with can be made of it. The last good one keeps serving.',
  ),
  InvalidProvider: warnOfProvider(
    'Render',
    'A router that selects it cannot use it as it is written. The others go on.',
  ),
  SecretNotFound: warnOfBoth(
    'Resolve',
    'A Secret, or a key of it, that is referred to does not exist.',
  ),
  ConfigMapNotFound: warnOfBoth(
    'Resolve',
    'A ConfigMap, or a key of it, that is referred to does not exist.',
  ),
  NameConflict: warn(
    'Apply',
    'An object of a name that the router needs exists and is not its own.',
  ),
  StillDeleting: info(
    'Apply',
    'An object that the router needs is still being deleted: its own, or one of an earlier router of this name. It is waited for.',
  ),
  FieldsContested: warn(
    'Apply',
    'Another writer sets fields of an object of the router as fast as the operator takes them back, or three times within five minutes.',
  ),
  ApplyFailed: warn(
    'Apply',
    'The API server refused an object, or failed at it for a while; the note has its answer.',
  ),
  ReplicaFailure: warn('Rollout', 'Kubernetes cannot create a pod; the note has its words.'),
  RolloutStalled: warn(
    'Rollout',
    'New pods did not become ready within progressDeadlineSeconds. The old ones keep serving.',
  ),
} as const satisfies Readonly<Record<string, EventMeaning>>

/** The reason of an Event. */
export type EventReason = keyof typeof eventReasons
