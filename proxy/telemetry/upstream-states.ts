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

/** What is known of one upstream. */
interface Known {
  standing: Standing | null
  /** The standing before, and when it ended. */
  left: (Standing & { readonly untilMs: number }) | null
  /** What last led to a state whose begin is not reported itself. */
  readonly events: Map<UpstreamState, Standing>
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
      this.#enter(this.#of(upstream), this.#now(to, why))
    },
    cooldownBegan: (upstream, url, forMs, why) => {
      const about = `${why}: nothing goes to ${url} for ${Math.ceil(forMs / 1_000)} s`
      this.#of(upstream).events.set('held-off', this.#now('held-off', about))
    },
    verificationFailed: (upstream, url, verification, why) => {
      const about = `${verification} of ${url}: ${why}`
      for (const state of ['unverified', 'rejected'] as const)
        this.#of(upstream).events.set(state, this.#now(state, about))
    },
  }

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock
  }

  /** Notes what has changed since the last look, and forgets what the pool has no more. */
  look({ upstreams }: PoolSnapshot): ReadonlyMap<string, Standing> {
    const names = new Set(upstreams.map(({ name }) => name))
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
    const standings = upstreams.map(({ name, state }) => {
      const known = this.#of(name)
      return [name, this.#enter(known, known.events.get(state) ?? this.#now(state, null))] as const
    })
    return new Map(standings)
  }

  #now(state: UpstreamState, why: string | null): Standing {
    return { state, sinceMs: this.#clock.wallMs(), why }
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
      return { standing: null, left: null, events: new Map() }
    })
  }
}
