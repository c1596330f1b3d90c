// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef } from '../chain/types.ts'
import type { Live, RelayConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { addonsOf } from '../relay/needs.ts'
import { anyUpstream, isPermitted } from '../upstream/wanted.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Terms } from './terms.ts'
import { counted } from '../words/counted.ts'

export interface ParticipantsOptions {
  readonly pool: Pool
  readonly config: Live<Pick<RelayConfig, 'strategy'>>
  readonly call: Call
  readonly terms: Terms
}

/** Configured upstreams that could serve the call, even if they are down or in cooldown now. */
function declaring({ call, pool }: ParticipantsOptions): readonly Upstream[] {
  const addons = addonsOf(call)
  return pool.upstreams.filter(
    (each) =>
      !call.directives.blockProviders.includes(each.name) &&
      each.availability.standing !== 'rejected' &&
      isPermitted(each, call.method.name) &&
      each.urls.some((url) => url.declares(addons)),
  )
}

function available(options: ParticipantsOptions): readonly Upstream[] {
  const { pick } = options.pool
  const addons = addonsOf(options.call)
  return declaring(options).filter((each) => each.serves(addons) && !pick.isFull(each))
}

/** Number of upstreams that may vote, and of groups that can be filled. */
function countOf(upstreams: readonly Upstream[], { perGroupQuorum, oneVotePerGroup }: Terms) {
  const groups = [...Map.groupBy(upstreams, ({ group }) => group).values()]
  const full = groups.filter(({ length }) => length >= perGroupQuorum).length
  return { voters: oneVotePerGroup ? groups.length : upstreams.length, full }
}

/** Why agreement is impossible, whatever the upstreams answer; null if it is possible. */
export function shortageOf(options: ParticipantsOptions): RelayError | null {
  const { terms } = options
  const { agreement, minParticipants, minGroups, perGroupQuorum, oneVotePerGroup } = terms
  const [all, now] = [countOf(declaring(options), terms), countOf(available(options), terms)]
  if (all.voters < minParticipants || now.voters < agreement) {
    const { insufficientCapacity, insufficientCapacityAsked } = errorKinds
    const { blockProviders, extension } = options.call.directives
    const isNarrowed = terms.isRaised || blockProviders.length > 0 || extension !== null
    const unit = oneVotePerGroup ? 'group' : 'upstream'
    const message = `${counted(minParticipants, unit)} must be queried and ${agreement} must agree; ${all.voters} can serve this call, ${now.voters} of them now`
    const isCallers = isNarrowed && all.voters < minParticipants
    return new RelayError(isCallers ? insufficientCapacityAsked : insufficientCapacity, message)
  }
  if (now.full >= minGroups) return null
  const of = perGroupQuorum > 1 ? ` of ${perGroupQuorum} upstreams or more` : ''
  const message = `${counted(minGroups, 'group')}${of} must agree; ${now.full} can answer now`
  return new RelayError(errorKinds.insufficientGroups, message)
}

/** An upstream in the vote. Another one of its group may replace it while it is late or absent. */
export interface Participant {
  readonly upstream: Upstream
  state: 'pending' | 'voted' | 'late' | 'absent'
}

/**
 * Selects the next upstream: first by group, then as the pool does; null if none is available.
 * @param requests the participants so far
 */
export function nextOf(
  options: ParticipantsOptions,
  requests: readonly Participant[],
  block: BlockRef,
): Upstream | null {
  const { call, pool, config, terms } = options
  const upstreams = available(options)
  const groups = Map.groupBy(upstreams, ({ group }) => group)
  const active = requests.filter(({ state }) => state === 'pending' || state === 'voted')
  const activeIn = (group: string) =>
    active.filter(({ upstream }) => upstream.group === group).length
  const primaries = upstreams.filter(({ tier }) => tier === 'primary')
  const { voters, full } = countOf(primaries, terms)
  const areEnough = voters >= terms.participants && full >= terms.minGroups
  const read = { block, data: call.method.data ?? null }
  const participantRank = (upstream: Upstream) => {
    const { tier, group, availability, lags, latest } = upstream
    const voting = activeIn(group)
    // An incomplete group is filled before the next one; one that cannot be filled comes last.
    const rank = voting > 0 && voting < terms.perGroupQuorum ? 0 : 1 + voting
    const isShort = (groups.get(group)?.length ?? 0) < terms.perGroupQuorum
    const lacksIt = block.kind === 'number' ? latest && latest.block < block.number : lags
    const isSpare = tier === 'backup' && areEnough
    const isLast = availability.isOnTrial || lacksIt || upstream.lacks(read)
    return rank + (isSpare ? 100 : 0) + (isShort ? 1_000 : 0) + (isLast ? 10_000 : 0)
  }
  const rest = upstreams.filter(
    (each) =>
      !requests.some(({ upstream }) => upstream === each) &&
      !(terms.oneVotePerGroup && activeIn(each.group) > 0),
  )
  const best = Math.min(...rest.map(participantRank))
  const only = rest.filter((each) => participantRank(each) === best).map(({ name }) => name)
  const criteria = {
    ...anyUpstream,
    ...{ addons: addonsOf(call), ...read, byHash: call.method.byHash },
    ...{ prefer: call.directives.selectProvider, only },
  }
  return pool.pick.next(criteria, config.now.strategy)
}
