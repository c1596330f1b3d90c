// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Reasons of each condition type, with their status. */
export type ConditionTable = Readonly<
  Record<string, Readonly<Record<string, 'True' | 'False' | 'Unknown'>>>
>

/*
 * docs/reference/conditions.md explains every condition and reason, and its remedy. A test compares
 * the two.
 */

const resolvedRefs = {
  ResolvedRefs: 'True',
  SecretNotFound: 'False',
  SecretKeyNotFound: 'False',
  ConfigMapNotFound: 'False',
  ConfigMapKeyNotFound: 'False',
} as const

/** Conditions of an RpcRouter. */
export const rpcRouterConditions = {
  Accepted: {
    Accepted: 'True',
    PartiallyAccepted: 'True',
    InvalidSpec: 'False',
    InvalidConfig: 'False',
    UnknownChain: 'False',
    NoProviders: 'False',
  },
  ResolvedRefs: resolvedRefs,
  Programmed: {
    Programmed: 'True',
    ConfigPending: 'False',
    LastGoodRestored: 'False',
    RolloutQueued: 'False',
    NotAccepted: 'False',
    NameConflict: 'False',
    StillDeleting: 'False',
    ApplyFailed: 'False',
    Paused: 'False',
    ProgrammedWithoutMonitor: 'True',
  },
  Available: {
    MinimumReplicasAvailable: 'True',
    MinimumReplicasUnavailable: 'False',
    RedisUnavailable: 'False',
    ListenersDark: 'False',
    ScaledToZero: 'False',
    NotProgrammed: 'False',
  },
  Progressing: {
    RolloutInProgress: 'True',
    RolloutComplete: 'False',
    ReplicaFailure: 'False',
    RolloutStalled: 'False',
    RolloutStopped: 'False',
    NotProgrammed: 'False',
  },
  Ready: {
    Ready: 'True',
    NotAccepted: 'False',
    RefsNotResolved: 'False',
    NotProgrammed: 'False',
    NotAvailable: 'False',
    NotRolledOut: 'False',
  },
} as const satisfies ConditionTable

/** Conditions of an UpstreamProvider, three of which `status.routers[]` repeats per router. */
export const upstreamProviderConditions = {
  Accepted: {
    Accepted: 'True',
    InvalidSpec: 'False',
    InvalidConfig: 'False',
    UnknownVariable: 'False',
    UnknownChain: 'False',
    DuplicateName: 'False',
    ChainNotServed: 'False',
  },
  ResolvedRefs: resolvedRefs,
  Programmed: {
    Programmed: 'True',
    NotProgrammed: 'False',
  },
  Ready: {
    Ready: 'True',
    NotAccepted: 'False',
    RefsNotResolved: 'False',
    NotSelected: 'False',
    NotProgrammed: 'False',
    NotHealthy: 'False',
  },
  Healthy: {
    Serving: 'True',
    Lagging: 'False',
    InCooldown: 'False',
    Disabled: 'False',
    Rejected: 'False',
    Unverified: 'False',
    PodsDiffer: 'False',
    NotObserved: 'Unknown',
  },
} as const satisfies ConditionTable

export type RpcRouterConditionType = keyof typeof rpcRouterConditions
export type UpstreamProviderConditionType = keyof typeof upstreamProviderConditions

/** Reasons of a condition of an RpcRouter. */
export type RpcRouterReason<T extends RpcRouterConditionType> =
  keyof (typeof rpcRouterConditions)[T] & string

/** Reasons of a condition of an UpstreamProvider. */
export type UpstreamProviderReason<T extends UpstreamProviderConditionType> =
  keyof (typeof upstreamProviderConditions)[T] & string
