// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** By type of condition: the reasons that it can have, and its status with each. */
export type ConditionTable = Readonly<
  Record<string, Readonly<Record<string, 'True' | 'False' | 'Unknown'>>>
>

/*
 * What each condition and each reason means, and what a user does about it, is in docs/reference/conditions.md. A test
 * compares the two.
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
    ScaledToZero: 'False',
    NotProgrammed: 'False',
  },
  Progressing: {
    RolloutInProgress: 'True',
    RolloutComplete: 'False',
    ReplicaFailure: 'False',
    RolloutStalled: 'False',
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

/** Conditions of an UpstreamProvider; `status.routers[]` has three of them for each router. */
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
    HeldOff: 'False',
    Disabled: 'False',
    Rejected: 'False',
    Unverified: 'False',
    PodsDiffer: 'False',
    NotObserved: 'Unknown',
  },
} as const satisfies ConditionTable

export type RpcRouterConditionType = keyof typeof rpcRouterConditions
export type UpstreamProviderConditionType = keyof typeof upstreamProviderConditions

/** The reasons that a condition of an RpcRouter can have. */
export type RpcRouterReason<T extends RpcRouterConditionType> =
  keyof (typeof rpcRouterConditions)[T] & string

/** The reasons that a condition of an UpstreamProvider can have. */
export type UpstreamProviderReason<T extends UpstreamProviderConditionType> =
  keyof (typeof upstreamProviderConditions)[T] & string
