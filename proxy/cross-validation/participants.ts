// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Strategy } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { addonsOf } from '../relay/needs.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Terms } from './terms.ts'

/** Chooses whom to ask for one call: over the groups, and within them as the pool does. */
export class Participants {
  readonly #pool: Pool
  readonly #strategy: Strategy
  readonly #call: Call
  readonly #terms: Terms
  readonly #addons: readonly string[]
  readonly #asked = new Set<Upstream>()
  /** How many of each group take part: those that turned out to be absent do not. */
  readonly #taken = new Map<string, number>()

  constructor(pool: Pool, strategy: Strategy, call: Call, terms: Terms) {
    this.#pool = pool
    this.#strategy = strategy
    this.#call = call
    this.#terms = terms
    this.#addons = addonsOf(call)
  }

  /** Those that may be asked now. */
  get askable(): readonly Upstream[] {
    return this.#declaring.filter((each) => this.#mayAsk(each))
  }

  /** That of the config which could serve the call, be they down or in cooldown now. */
  get #declaring(): readonly Upstream[] {
    const { blockProviders } = this.#call.directives
    return this.#pool.upstreams.filter(
      ({ name, urls, availability }) =>
        !blockProviders.includes(name) &&
        availability.standing !== 'rejected' &&
        urls.some((url) => this.#addons.every((addon) => url.declaredAddons.includes(addon))),
    )
  }

  /** Some that could serve the call have not been verified yet. */
  get areStarting(): boolean {
    return this.#declaring.some(({ urls }) => urls.some(({ verified }) => verified === null))
  }

  #mayAsk(upstream: Upstream): boolean {
    return upstream.serves(this.#addons) && !this.#pool.pick.isFull(upstream)
  }

  /** Why the answer cannot be agreed on, whatever the upstreams answer; null when it can. */
  shortage(): RelayError | null {
    const { agreement, minParticipants, minGroups, perGroupQuorum, oneVotePerGroup, isRaised } =
      this.#terms
    const votersOf = (all: readonly Upstream[]) =>
      oneVotePerGroup ? new Set(all.map(({ group }) => group)).size : all.length
    const groupsOf = (all: readonly Upstream[]) =>
      [...Map.groupBy(all, ({ group }) => group).values()].filter(
        ({ length }) => length >= perGroupQuorum,
      ).length
    const [all, now] = [this.#declaring, this.askable]
    const unit = oneVotePerGroup ? 'groups' : 'upstreams'
    if (votersOf(all) < minParticipants || votersOf(now) < agreement) {
      const isCallers = isRaised && votersOf(all) < agreement
      const kind = isCallers
        ? errorKinds.insufficientCapacityAsked
        : errorKinds.insufficientCapacity
      const message = `${minParticipants} ${unit} must be asked and ${agreement} must agree; ${votersOf(all)} can serve this call, ${votersOf(now)} of them now`
      return new RelayError(kind, message)
    }
    if (Math.min(groupsOf(all), groupsOf(now)) >= minGroups) return null
    const of = perGroupQuorum > 1 ? ` of ${perGroupQuorum} upstreams or more` : ''
    const message = `${minGroups} groups${of} must agree; upstreams of ${groupsOf(now)} can be asked now`
    return new RelayError(errorKinds.insufficientGroups, message)
  }

  /** The next to ask; null when no other may be asked. */
  next(block: Call['asked']['block']): Upstream | null {
    const rest = this.askable.filter((each) => !this.#asked.has(each))
    const sizes = Map.groupBy(this.askable, ({ group }) => group)
    const rankOf = (upstream: Upstream) => {
      const { group, availability, lags, latest } = upstream
      const { perGroupQuorum, oneVotePerGroup } = this.#terms
      const taken = this.#taken.get(group) ?? 0
      if (oneVotePerGroup && taken > 0) return Infinity
      // A group that has begun is filled before the next one; one that cannot be filled comes last.
      const rank = taken > 0 && taken < perGroupQuorum ? 0 : 1 + taken
      const isShort = (sizes.get(group)?.length ?? 0) < perGroupQuorum
      const lacksIt = block.kind === 'number' ? latest && latest.block < block.number : lags
      return rank + (isShort ? 1_000 : 0) + (availability.isOnTrial || lacksIt ? 10_000 : 0)
    }
    for (const rank of [...new Set(rest.map(rankOf))].toSorted((a, b) => a - b)) {
      if (rank === Infinity) break
      const candidates = rest.filter((each) => rankOf(each) === rank)
      const next = this.#pick(candidates, block)
      if (next === null) continue
      this.#asked.add(next)
      this.#taken.set(next.group, (this.#taken.get(next.group) ?? 0) + 1)
      return next
    }
    return null
  }

  /** It has no vote: another one of its group may take its place. */
  absent({ group }: Upstream): void {
    this.#taken.set(group, (this.#taken.get(group) ?? 1) - 1)
  }

  #pick(candidates: readonly Upstream[], block: Call['asked']['block']): Upstream | null {
    const { asked, directives } = this.#call
    const names = new Set(candidates.map(({ name }) => name))
    const wanted = {
      addons: this.#addons,
      block,
      byHash: asked.byHash,
      prefer: directives.selectProvider,
      excluded: this.#pool.upstreams.filter(({ name }) => !names.has(name)).map(({ name }) => name),
      tried: () => false,
      untriedOnly: false,
    }
    return this.#pool.pick.next(wanted, this.#strategy)
  }
}

/**
 * The latest block that all of these upstreams have, and no block before the one that the caller has seen; null while
 * too few heads are known. One that lags does not hold the others back while enough do not.
 */
export function commonBlock(
  chosen: readonly Upstream[],
  agreement: number,
  minBlock: number | null,
): number | null {
  const known = chosen.filter(({ latest }) => latest !== null)
  const fresh = known.filter(({ lags }) => !lags)
  const heads = (fresh.length >= agreement ? fresh : known).map(({ latest }) => latest?.block ?? 0)
  return heads.length < agreement ? null : Math.max(Math.min(...heads), minBlock ?? 0)
}
