// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { PoolObserver, PoolSnapshot, UpstreamState } from '../upstream/observer.ts'

/** The state of an upstream, since when it has it, and why. */
export interface Standing {
  readonly state: UpstreamState
  /** In milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** A clause; null where nothing is known. */
  readonly why: string | null
}

interface Event {
  readonly why: string
  readonly atMs: number
}

/** What is known of one upstream. */
interface Known {
  standing: Standing | null
  /** The standing before, and when it ended. */
  left: (Standing & { readonly untilMs: number }) | null
  cooldown: Event | null
  failedVerification: Event | null
}

/** Who is bad again so soon was never good: disabled upstreams are tried at each epoch. */
const relapseMs = 60_000

/**
 * The standings of the upstreams of one chain and interface. What the pool reports counts from then on; a state that
 * nothing reports, such as the end of a cooldown, counts from the look that finds it.
 */
export class UpstreamStates {
  readonly #clock: Pick<Clock, 'wallMs'>
  readonly #known = new Map<string, Known>()
  readonly observer: PoolObserver = {
    stateChanged: (upstream, _from, to, why) => {
      this.#enter(this.#of(upstream), { state: to, sinceMs: this.#clock.wallMs(), why })
    },
    cooldownBegan: (upstream, url, forMs) => {
      const why = `429 or Retry-After: nothing goes to ${url} for ${Math.ceil(forMs / 1_000)} s`
      this.#of(upstream).cooldown = { why, atMs: this.#clock.wallMs() }
    },
    verificationFailed: (upstream, url, verification, why) => {
      const about = `${verification} of ${url}: ${why}`
      this.#of(upstream).failedVerification = { why: about, atMs: this.#clock.wallMs() }
    },
  }

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock
  }

  /** Notes what has changed since the last look, and forgets what the pool has no more. */
  look({ upstreams }: PoolSnapshot): ReadonlyMap<string, Standing> {
    const names = new Set(upstreams.map(({ name }) => name))
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
    return new Map(upstreams.map(({ name, state }) => [name, this.#standingOf(name, state)]))
  }

  #standingOf(name: string, state: UpstreamState): Standing {
    const known = this.#of(name)
    const event = {
      'held-off': known.cooldown,
      unverified: known.failedVerification,
      rejected: known.failedVerification,
    }[state as string]
    const sinceMs = event?.atMs ?? this.#clock.wallMs()
    return this.#enter(known, { state, sinceMs, why: event?.why ?? null })
  }

  #enter(known: Known, next: Standing): Standing {
    const { standing: last, left } = known
    if (last?.state === next.state) {
      known.standing = { ...last, why: next.why ?? last.why }
      return known.standing
    }
    const isRelapse =
      next.state !== 'eligible' &&
      left?.state === next.state &&
      next.sinceMs - left.untilMs < relapseMs
    known.left = last && { ...last, untilMs: next.sinceMs }
    known.standing = isRelapse ? { ...next, sinceMs: left.sinceMs } : next
    return known.standing
  }

  #of(name: string): Known {
    return this.#known.getOrInsertComputed(name, () => {
      return { standing: null, left: null, cooldown: null, failedVerification: null }
    })
  }
}
