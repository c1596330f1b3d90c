// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, sleep } from '../clock.ts'
import { ApiError, ConnectionError } from '../errors.ts'
import type { Lease } from '../leader-elector.ts'
import type { ObjectRef, Resource } from '../object.ts'

/**
 * One lease of an API server in virtual time, with optimistic locking and a connection that the
 * test can slow down or cut. `e2e/kube` tests against the real one.
 */
export class LeaseKeeper {
  lease: Lease | null = null
  readonly #clock: Clock
  #version = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the client of one process. The test may change `wire` at any time. */
  connect(wire: { delayMs: number; isCut?: boolean; losesAnswers?: boolean } = { delayMs: 5 }) {
    const travel = async (signal: AbortSignal) => {
      await sleep(this.#clock, wire.delayMs, signal)
      if (wire.isCut) throw new ConnectionError('cut')
    }
    const answer = async (signal: AbortSignal) => {
      await sleep(this.#clock, wire.delayMs, signal)
      if (wire.losesAnswers) throw new ConnectionError('cut before the answer')
    }
    const refuse = (status: number, reason: string) => new ApiError('lease', status, { reason })
    const store = (lease: Lease) => {
      const resourceVersion = String(++this.#version)
      this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion } }
      return this.lease
    }
    // The client's types are wider, because this one serves a single kind.
    return {
      get: async (_: Resource, _ref: ObjectRef, signal: AbortSignal) => {
        await travel(signal)
        const { lease } = this
        if (lease === null) throw refuse(404, 'NotFound')
        await answer(signal)
        return lease
      },
      create: async (_: Resource, lease: Lease, signal: AbortSignal) => {
        await travel(signal)
        if (this.lease !== null) throw refuse(409, 'AlreadyExists')
        const stored = store(lease)
        await answer(signal)
        return stored
      },
      replace: async (_: Resource, lease: Lease, signal: AbortSignal) => {
        await travel(signal)
        if (this.lease === null) throw refuse(404, 'NotFound')
        if (this.lease.metadata.resourceVersion !== lease.metadata.resourceVersion)
          throw refuse(409, 'Conflict')
        const stored = store(lease)
        await answer(signal)
        return stored
      },
    } as never
  }
}
