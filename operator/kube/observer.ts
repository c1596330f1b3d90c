// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

import type { ObjectRef } from './object.ts'

/** RBAC verb of a request. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

/**
 * Hooks for metrics and logs. Every hook is optional, and none may throw. `resource` is a plural
 * name such as `deployments`; `queue` and `controller` are names.
 */
export interface KubeObserver {
  /** A request ended. `outcome` is the HTTP status or, without a status, the error's code. */
  requested?(resource: string, verb: Verb, outcome: number | string, durationMs: number): void
  /** A request is delayed by the client's rate limit, or at the server's request. */
  throttled?(resource: string, verb: Verb, waitMs: number, by: 'client' | 'server'): void

  /** A full list was stored. */
  listed?(resource: string, objects: number, durationMs: number): void
  /** A list or a watch failed, and is retried after `retryMs`. */
  reflectFailed?(resource: string, verb: 'list' | 'watch', error: Error, retryMs: number): void

  queueAdded?(queue: string): void
  /** A failed item was queued again, with a delay. */
  queueRetried?(queue: string): void
  /** A worker took an item after `waitedMs` in the queue. */
  queueTaken?(queue: string, waitedMs: number): void
  /** A worker finished an item. */
  queueDone?(queue: string, workedMs: number): void

  /** A reconcile ended. `error` is set for all results except success and requeue. */
  reconciled?(reconciled: Reconciled): void

  /** This process started or stopped leading. */
  leading?(isLeading: boolean): void
  /** This process waits for another that holds the lease. Called once per new leader. */
  waiting?(lease: Required<ObjectRef>, leader: string): void
  /** An attempt to get or renew the lease failed. */
  leaseFailed?(error: Error): void

  /** An Event could not be written, or exceeded a limit. */
  eventDropped?(reason: string, why: 'rate' | 'full' | 'error', error?: Error): void
}

/** `retry`: it failed for a reason that is often transient. */
export type ReconcileResult = 'success' | 'requeue' | 'retry' | 'error' | 'timeout' | 'stopped'

export interface Reconciled {
  readonly controller: string
  readonly key: string
  readonly reconcileId: string
  readonly result: ReconcileResult
  readonly durationMs: number
  readonly error?: unknown
}
