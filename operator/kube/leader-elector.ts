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
  /** The name of this process: the name of the pod and something random. */
  readonly identity: string
  readonly clock: Clock
  readonly random: Random
  /** For how long a leader without renewals still counts. Default 15 s, whole seconds. */
  readonly leaseMs?: number
  /** After how long without a renewal a leader gives up. Must be shorter. Default 10 s. */
  readonly renewDeadlineMs?: number
  /** Between two attempts. Default 2 s. */
  readonly retryMs?: number
  readonly observer?: KubeObserver
}

/** A process that waits lengthens its pause by up to this share, so that rivals do not ask all at once. */
const jitter = 1.2

/** The leader lost its lease. The process must end: another may be doing its work by now. */
export class LeaseLostError extends KubeError {
  readonly code = 'OP_KUBE_LEASE_LOST'
}

/**
 * One leader among processes, by a Lease.
 *
 * Clocks of different machines are never compared. The age of a rival's lease is measured from its last
 * change that we saw, on our monotonic clock; that of our own from before the renewal was sent. So the
 * leader gives up before another one may follow.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #leaseMs: number
  readonly #renewDeadlineMs: number
  readonly #retryMs: number
  /** The lease as last seen, and since when it looks like this. */
  #seen: { readonly lease: Lease; readonly sinceMs: number } | null = null
  #renewedMs = -Infinity
  /** The last leader that was reported to the observer. */
  #awaited: string | null = null
  #leads = false
  #isOver = false

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? 15_000
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000
    this.#retryMs = options.retryMs ?? 2_000
  }

  /** True while the lease is ours for certain. */
  get isLeading(): boolean {
    return !this.#isOver && this.#options.clock.nowMs() - this.#renewedMs < this.#renewDeadlineMs
  }

  /** False when we took the lead and can no longer keep it: for the liveness probe. */
  get isHealthy(): boolean {
    return !this.#leads || this.isLeading
  }

  /** The leader, as far as it is known; null for none. */
  get leader(): string | null {
    return this.#seen?.lease.spec?.holderIdentity || null
  }

  /**
   * Waits for the lead and runs `lead` with it. When `signal` is aborted, so is the signal of `lead`; the
   * lease is kept until `lead` has ended, and then released for the next.
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

  /** Renews until the signal is aborted; rejects when the lease is lost. */
  async #keep(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#pause(signal)
      if (signal.aborted) return
      // Checked before the attempt as well: a process that slept must not take up where it left off.
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

  /** One try to get or keep the lease. A failure is reported and changes nothing: time decides. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { lease: ref, identity, clock } = this.#options
    await this.#inTime(signal, async (limited) => {
      const present = await this.#read(limited)
      if (this.#isTaken(present)) {
        this.#renewedMs = -Infinity
        return this.#reportLeader()
      }
      const leaseMs = this.#leaseMs
      // Counted from here: others see the renewal later.
      const atMs = clock.nowMs()
      const lease = claimed(ref, present, identity, leaseMs, microTime(clock.wallMs()))
      await this.#write(present, lease, limited)
      // One that comes too late does not bring the lead back: the term is over.
      if (!this.#leads || this.isLeading) this.#renewedMs = atMs
    })
  }

  #reportLeader(): void {
    const { lease, observer } = this.#options
    const { leader } = this
    if (this.#leads || leader === null || leader === this.#awaited) return
    this.#awaited = leader
    observer?.waiting?.(lease, leader)
  }

  async #release(): Promise<void> {
    const { clock, identity } = this.#options
    // Before it is sent: from then on another may lead.
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
      return new TimeoutError(`the lease was not answered for within ${limitMs / 1000} s`)
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
    this.#see(await written)
  }

  async #read(signal: AbortSignal): Promise<Lease | null> {
    const { client, lease } = this.#options
    try {
      const found = await client.get(leases, lease, signal)
      this.#see(found)
      return found
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#seen = null
      return null
    }
  }

  /** Whether another holds the lease and may still be at work. */
  #isTaken(present: Lease | null): boolean {
    const { holderIdentity, leaseDurationSeconds = 0 } = present?.spec ?? {}
    if (!holderIdentity || holderIdentity === this.#options.identity) return false
    // One that holds the lease that was ours has taken it: whatever its age, we no longer lead.
    if (this.#leads || this.#seen === null) return true
    return this.#options.clock.nowMs() - this.#seen.sinceMs < leaseDurationSeconds * 1000
  }

  #see(lease: Lease): void {
    const isSame = isDeepStrictEqual(this.#seen?.lease.spec, lease.spec)
    const sinceMs = isSame && this.#seen ? this.#seen.sinceMs : this.#options.clock.nowMs()
    this.#seen = { lease, sinceMs }
  }

  #setLeads(leads: boolean): void {
    this.#leads = leads
    if (!leads) this.#isOver = true
    this.#options.observer?.leading?.(leads)
  }
}

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

/** The lease as the process that takes or keeps it writes it. */
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

/** The lease without holder: any process may take it at once. */
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
