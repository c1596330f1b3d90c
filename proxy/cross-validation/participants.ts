// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef } from '../chain/types.ts'
import type { Strategy } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { addonsOf } from '../relay/needs.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Terms } from './terms.ts'

export interface ParticipantsOptions {
  readonly pool: Pool
  readonly strategy: Strategy
  readonly call: Call
  readonly terms: Terms
}

/** Chooses the upstreams to ask for one call: over the groups, and within them as the pool does. */
export class Participants {
  readonly #options: ParticipantsOptions
  readonly #asked = new Set<Upstream>()
  /** How many of each group take part: those that turned out to be absent do not. */
  readonly #taken = new Map<string, number>()

  constructor(options: ParticipantsOptions) {
    this.#options = options
  }

  /** Those of the config that could serve the call, be they down or in cooldown now. */
  get #declaring(): readonly Upstream[] {
    const { call, pool } = this.#options
    const addons = addonsOf(call)
    return pool.upstreams.filter(
      ({ name, urls, availability }) =>
        !call.directives.blockProviders.includes(name) &&
        availability.standing !== 'rejected' &&
        urls.some((url) => addons.every((addon) => url.declaredAddons.includes(addon))),
    )
  }

  get #askable(): readonly Upstream[] {
    const { call, pool } = this.#options
    const mayServe = (each: Upstream) => each.serves(addonsOf(call)) && !pool.pick.isFull(each)
    return this.#declaring.filter(mayServe)
  }

  /** Why no answer can be agreed on, whatever the upstreams answer; null when one can. */
  shortage(): RelayError | null {
    const { agreement, minParticipants, minGroups, perGroupQuorum, oneVotePerGroup, isRaised } =
      this.#options.terms
    const count = (upstreams: readonly Upstream[]) => {
      const groups = [...Map.groupBy(upstreams, ({ group }) => group).values()]
      const full = groups.filter(({ length }) => length >= perGroupQuorum).length
      return { voters: oneVotePerGroup ? groups.length : upstreams.length, full }
    }
    const [all, now] = [count(this.#declaring), count(this.#askable)]
    if (all.voters < minParticipants || now.voters < agreement) {
      const { insufficientCapacity, insufficientCapacityAsked } = errorKinds
      const { blockProviders, extension } = this.#options.call.directives
      const isNarrowed = isRaised || blockProviders.length > 0 || extension !== null
      const unit = oneVotePerGroup ? 'groups' : 'upstreams'
      const message = `${minParticipants} ${unit} must be asked and ${agreement} must agree; ${all.voters} can serve this call, ${now.voters} of them now`
      const isCallers = isNarrowed && all.voters < minParticipants
      return new RelayError(isCallers ? insufficientCapacityAsked : insufficientCapacity, message)
    }
    if (now.full >= minGroups) return null
    const of = perGroupQuorum > 1 ? ` of ${perGroupQuorum} upstreams or more` : ''
    const message = `${minGroups} groups${of} must agree; ${now.full} can be asked now`
    return new RelayError(errorKinds.insufficientGroups, message)
  }

  /** The next to ask; null when no other may be asked. */
  next(block: BlockRef): Upstream | null {
    const { perGroupQuorum, oneVotePerGroup } = this.#options.terms
    const askable = this.#askable
    const groups = Map.groupBy(askable, ({ group }) => group)
    const rankOf = ({ group, availability, lags, latest }: Upstream) => {
      const taken = this.#taken.get(group) ?? 0
      // A group that has begun is filled before the next one; one that cannot be filled comes last.
      const rank = taken > 0 && taken < perGroupQuorum ? 0 : 1 + taken
      const isShort = (groups.get(group)?.length ?? 0) < perGroupQuorum
      const lacksIt = block.kind === 'number' ? latest && latest.block < block.number : lags
      return rank + (isShort ? 1_000 : 0) + (availability.isOnTrial || lacksIt ? 10_000 : 0)
    }
    const rest = askable.filter(
      (each) => !this.#asked.has(each) && !(oneVotePerGroup && this.#taken.get(each.group)),
    )
    const best = Math.min(...rest.map(rankOf))
    const next = this.#pick(new Set(rest.filter((each) => rankOf(each) === best)), block)
    if (next) this.#taken.set(next.group, (this.#taken.get(next.group) ?? 0) + 1)
    if (next) this.#asked.add(next)
    return next
  }

  /** It has no vote: another one of its group may take its place. */
  absent({ group }: Upstream): void {
    this.#taken.set(group, (this.#taken.get(group) ?? 1) - 1)
  }

  #pick(candidates: ReadonlySet<Upstream>, block: BlockRef): Upstream | null {
    const { pool, strategy, call } = this.#options
    const others = pool.upstreams.filter((each) => !candidates.has(each))
    const wanted = {
      ...{ addons: addonsOf(call), block, byHash: call.asked.byHash },
      ...{ prefer: call.directives.selectProvider, excluded: others.map(({ name }) => name) },
      ...{ tried: () => false, untriedOnly: false },
    }
    return pool.pick.next(wanted, strategy)
  }
}
