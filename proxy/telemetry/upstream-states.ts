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
  now: Standing | null
  before: Standing | null
  /** What last began a cooldown: the state itself is not reported. */
  heldOff: Standing | null
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
  readonly observer: Pick<PoolObserver, 'stateChanged' | 'cooldownBegan'> = {
    stateChanged: (upstream, _from, to, why) => {
      this.#enter(this.#of(upstream), this.#begun(to, why))
    },
    cooldownBegan: (upstream, url, forMs, why) => {
      const about = `${why}: nothing goes to ${url} for ${Math.ceil(forMs / 1_000)} s`
      this.#of(upstream).heldOff = this.#begun('held-off', about)
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
      const next = (state === 'held-off' && known.heldOff) || this.#begun(state, null)
      return [name, this.#enter(known, next)] as const
    })
    return new Map(standings)
  }

  #begun(state: UpstreamState, why: string | null): Standing {
    return { state, sinceMs: this.#clock.wallMs(), why }
  }

  #enter(known: Known, next: Standing): Standing {
    const { now, before } = known
    if (now?.state === next.state) return (known.now = { ...now, why: next.why ?? now.why })
    const isRelapse =
      next.state !== 'eligible' &&
      before?.state === next.state &&
      next.sinceMs - (now?.sinceMs ?? 0) < relapseMs
    known.before = now
    return (known.now = isRelapse ? { ...next, sinceMs: before.sinceMs } : next)
  }

  #of(name: string): Known {
    return this.#known.getOrInsertComputed(name, () => {
      return { now: null, before: null, heldOff: null }
    })
  }
}
