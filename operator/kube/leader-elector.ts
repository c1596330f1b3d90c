// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from './client.ts'
import { type Clock, deadline, microTime, type Random, sleep } from './clock.ts'
import { isNotFound, KubeError, TimeoutError } from './errors.ts'
import { type KubeObject, type ObjectRef, apiVersionOf, type Resource } from './object.ts'
import type { KubeObserver } from './observer.ts'

export interface LeaderElectorOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>
  readonly lease: Required<ObjectRef>
  /** Identity of this process: the pod's name and a random suffix. */
  readonly identity: string
  readonly clock: Clock
  readonly random: Random
  /** Lease duration in whole seconds. Default 15 s. */
  readonly leaseMs?: number
  /** A leader steps down after this time without a renewal; less than `leaseMs`. Default: 10 s. */
  readonly renewDeadlineMs?: number
  /** Interval between attempts. Default: 2 s. */
  readonly retryMs?: number
  readonly observer?: KubeObserver
}

/** Waiting processes lengthen their pause by up to this share, which spreads their requests. */
const jitter = 1.2

/** The leader lost its lease. The process must exit, because another one may already lead. */
export class LeaseLostError extends KubeError {
  readonly code = 'OP_KUBE_LEASE_LOST'
}

/**
 * Elects one leader among processes with a Lease.
 *
 * It never compares clocks of different machines. It measures the age of another's lease on its own
 * monotonic clock, from the last change that it observed. It measures the age of its own lease from
 * before it sent the renewal. So the leader steps down before another process can lead.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #leaseMs: number
  readonly #renewDeadlineMs: number
  readonly #retryMs: number
  /** The lease as last observed, and when it last changed. */
  #observed: { readonly lease: Lease; readonly sinceMs: number } | null = null
  #renewedMs = -Infinity
  /** The last leader reported to the observer. */
  #reportedLeader: string | null = null
  #leads = false
  #isOver = false

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? 15_000
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000
    this.#retryMs = options.retryMs ?? 2_000
  }

  /** Whether this process certainly holds the lease. */
  get isLeading(): boolean {
    return !this.#isOver && this.#options.clock.nowMs() - this.#renewedMs < this.#renewDeadlineMs
  }

  /** False once this process has led and lost the lease; for the liveness probe. */
  get isHealthy(): boolean {
    return !this.#leads || this.isLeading
  }

  /** The last observed leader; null if there is none. */
  get leader(): string | null {
    return this.#observed?.lease.spec?.holderIdentity || null
  }

  /**
   * Waits for the lease, then runs `lead`. When `signal` aborts, the signal of `lead` aborts too.
   * Once `lead` has ended, the lease is released.
   * @throws LeaseLostError as soon as the lease is lost, without waiting for `lead`
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (!(await this.#acquire(signal))) return
    const term = new AbortController()
    const keeping = new AbortController()
    const stop = () => term.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    this.#setLeads(true)
    try {
      const work = lead(term.signal)
      const ended = () => keeping.abort()
      work.then(ended, ended)
      await this.#keep(keeping.signal)
      await this.#release()
      await work
    } catch (error) {
      term.abort(error)
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      this.#setLeads(false)
    }
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      await this.#attempt(signal)
      if (this.isLeading) return true
      await this.#pause(signal)
    }
    return false
  }

  /** Renews until the signal aborts. Rejects if the lease is lost. */
  async #keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#pause(signal)
      if (signal.aborted) return
      // Also checked before the attempt: a process that slept must not renew an expired lease.
      if (this.isLeading) await this.#attempt(signal)
      if (signal.aborted) return
      if (!this.isLeading)
        throw new LeaseLostError(
          `${this.#options.identity} lost the lease ${this.#options.lease.name}`,
        )
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    const factor = this.#leads ? 1 : 1 + random.next() * jitter
    return sleep(clock, this.#retryMs * factor, signal).catch(() => {})
  }

  /** Tries once to get or renew the lease. A failure is only reported: the deadline decides. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { lease: ref, identity, clock } = this.#options
    await this.#inTime(signal, async (limited) => {
      const present = await this.#read(limited)
      if (this.#isTaken(present)) {
        this.#renewedMs = -Infinity
        return this.#reportLeader()
      }
      const leaseMs = this.#leaseMs
      // The renewal counts from here, because other processes observe it later.
      const atMs = clock.nowMs()
      const lease = claimed(ref, present, identity, leaseMs, microTime(clock.wallMs()))
      await this.#write(present, lease, limited)
      // A late renewal does not restore lost leadership.
      if (!this.#leads || this.isLeading) this.#renewedMs = atMs
    })
  }

  #reportLeader(): void {
    const { lease, observer } = this.#options
    const { leader } = this
    if (this.#leads || leader === null || leader === this.#reportedLeader) return
    this.#reportedLeader = leader
    observer?.waiting?.(lease, leader)
  }

  async #release(): Promise<void> {
    const { clock, identity } = this.#options
    // Set before the request is sent: from then on, another process may lead.
    this.#isOver = true
    await this.#inTime(new AbortController().signal, async (limited) => {
      const present = await this.#read(limited)
      if (present?.spec?.holderIdentity === identity)
        await this.#write(present, released(present, clock.wallMs()), limited)
    })
  }

  async #inTime(signal: AbortSignal, act: (limited: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, observer } = this.#options
    const limitMs = this.#renewDeadlineMs / 2
    using limit = deadline(clock, limitMs, signal, () => {
      return new TimeoutError(
        `the API server did not answer about the lease within ${limitMs / 1000} s`,
      )
    })
    try {
      await act(limit.signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof KubeError)) throw error
      observer?.leaseFailed?.(error)
    }
  }

  async #write(present: Lease | null, lease: Lease, signal: AbortSignal): Promise<void> {
    const { client } = this.#options
    const written =
      present === null
        ? client.create(leases, lease, signal)
        : client.replace(leases, lease, signal)
    this.#observe(await written)
  }

  async #read(signal: AbortSignal): Promise<Lease | null> {
    const { client, lease } = this.#options
    try {
      const found = await client.get(leases, lease, signal)
      this.#observe(found)
      return found
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#observed = null
      return null
    }
  }

  /** Whether another process holds the lease and may still be leading. */
  #isTaken(present: Lease | null): boolean {
    const { holderIdentity, leaseDurationSeconds = 0 } = present?.spec ?? {}
    if (!holderIdentity || holderIdentity === this.#options.identity) return false
    // Another process took our lease, so whatever its age, this process no longer leads.
    if (this.#leads || this.#observed === null) return true
    return this.#options.clock.nowMs() - this.#observed.sinceMs < leaseDurationSeconds * 1000
  }

  #observe(lease: Lease): void {
    const isSame = isDeepStrictEqual(this.#observed?.lease.spec, lease.spec)
    const sinceMs = isSame && this.#observed ? this.#observed.sinceMs : this.#options.clock.nowMs()
    this.#observed = { lease, sinceMs }
  }

  #setLeads(leads: boolean): void {
    this.#leads = leads
    if (!leads) this.#isOver = true
    this.#options.observer?.leading?.(leads)
  }
}

/** Times are MicroTime: see `microTime`. */
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

/** Returns the lease to write when acquiring or renewing it. */
function claimed(
  ref: Required<ObjectRef>,
  present: Lease | null,
  identity: string,
  leaseMs: number,
  now: string,
): Lease {
  const { holderIdentity, acquireTime, leaseTransitions = 0 } = present?.spec ?? {}
  const isOurs = holderIdentity === identity
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

/** Returns the lease without a holder, so that any process may take it immediately. */
function released(present: Lease, wallMs: number): Lease {
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
