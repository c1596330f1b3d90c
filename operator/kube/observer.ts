// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

import type { ObjectRef } from './object.ts'

/** A verb of RBAC, as the API server counts a request. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete'

/**
 * What can be observed of this folder, for metrics and logs. Every hook is optional, and none may
 * throw. `resource` is a plural name such as `deployments`; `queue`, `controller` are their names.
 */
export interface KubeObserver {
  /** A request ended; `outcome` is the HTTP status, or the code of the error when none came. */
  requested?(resource: string, verb: Verb, outcome: number | string, durationMs: number): void
  /** A request waits: for the rate limit of this client, or because the server asked for it. */
  throttled?(resource: string, verb: Verb, waitMs: number, by: 'client' | 'server'): void

  /** A full list has been taken over. */
  listed?(resource: string, objects: number, durationMs: number): void
  /** A list or a watch failed and will be tried again after `retryMs`. */
  reflectFailed?(resource: string, verb: 'list' | 'watch', error: Error, retryMs: number): void

  queueAdded?(queue: string): void
  /** An item went back with a delay because of a failure. */
  queueRetried?(queue: string): void
  /** A worker took an item that had waited for so long. */
  queueTaken?(queue: string, waitedMs: number): void
  /** A worker is done with an item. */
  queueDone?(queue: string, workedMs: number): void

  /** A reconcile ended. `error` is set for all results but success and requeue. */
  reconciled?(reconciled: Reconciled): void

  /** This process began or ceased to lead. */
  leading?(isLeading: boolean): void
  /** Another process holds the lease, and this one waits. Called again for each new leader. */
  waiting?(lease: Required<ObjectRef>, leader: string): void
  /** An attempt to get or keep the lease failed. */
  leaseFailed?(error: Error): void

  /** An event could not be written, or was one too many. */
  eventDropped?(reason: string, why: 'rate' | 'full' | 'error', error?: Error): void
}

/** `retry`: it failed for a reason that often passes in a moment, and is tried again. */
export type ReconcileResult = 'success' | 'requeue' | 'retry' | 'error' | 'timeout' | 'stopped'

export interface Reconciled {
  readonly controller: string
  readonly key: string
  readonly reconcileId: string
  readonly result: ReconcileResult
  readonly durationMs: number
  readonly error?: unknown
}
