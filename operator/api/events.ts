// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { rpcRouterNames, upstreamProviderNames } from './group.ts'

/** Type, action and target kinds of an Event. */
export interface EventMeaning {
  readonly type: 'Normal' | 'Warning'
  /** The action in progress. */
  readonly action: 'Render' | 'Resolve' | 'Apply' | 'Rollout' | 'Pause'
  /** Kinds of objects that the Event is about. */
  readonly of: readonly (typeof rpcRouterNames.kind | typeof upstreamProviderNames.kind)[]
}

function event(type: EventMeaning['type'], of: EventMeaning['of']) {
  return (action: EventMeaning['action']): EventMeaning => ({ type, action, of })
}

const info = event('Normal', ['RpcRouter'])
const warn = event('Warning', ['RpcRouter'])
const warnOfProvider = event('Warning', ['UpstreamProvider'])
const warnOfBoth = event('Warning', ['RpcRouter', 'UpstreamProvider'])

/**
 * Every Event of the operator, by reason. `docs/reference/events.md` says when each occurs, and a
 * test compares the two. Each warning has a runbook of the same name.
 */
export const eventReasons = {
  ConfigRendered: info('Render'),
  RolloutStarted: info('Rollout'),
  RolloutComplete: info('Rollout'),
  SecretRotated: info('Resolve'),
  Paused: info('Pause'),
  Resumed: info('Pause'),
  NotAccepted: warn('Render'),
  InvalidProvider: warnOfProvider('Render'),
  SecretNotFound: warnOfBoth('Resolve'),
  ConfigMapNotFound: warnOfBoth('Resolve'),
  NameConflict: warn('Apply'),
  StillDeleting: info('Apply'),
  ApplyFailed: warn('Apply'),
  CrdsOutdated: warnOfBoth('Apply'),
  LastGoodRestored: warn('Rollout'),
  ReplicaFailure: warn('Rollout'),
  RolloutStalled: warn('Rollout'),
  RolloutStopped: warn('Rollout'),
} as const satisfies Readonly<Record<string, EventMeaning>>

export type EventReason = keyof typeof eventReasons
