// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { PolicyConfig } from '../config/types.ts'
import { type Call, isWhole } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Rule } from './vote.ts'

/** How one call is cross-validated. */
export interface Terms extends Rule {
  /** How many upstreams are asked at once, if there are as many. */
  readonly participants: number
  /** How many at most, with those that take the place of others. */
  readonly maxParticipants: number
  /** There must be as many upstreams: by the policy, and for an answer to be agreed on at all. */
  readonly minParticipants: number
  /** The caller asks for more matching answers than the policy. */
  readonly isRaised: boolean
  readonly oneVotePerGroup: boolean
  readonly ignoreFields: readonly string[]
}

const noPolicy = {
  ...{ agreement: 0, maxAgreement: Infinity, participants: 0, maxParticipants: Infinity },
  ...{ minGroups: 1, perGroupQuorum: 1, oneVotePerGroup: false, ignoreFields: [] },
  forbidsCallers: false,
}

/**
 * The terms of the policy of the method, raised by what the caller asks for; null when the call is not
 * cross-validated.
 * @throws RelayError for a call that cannot be cross-validated as its caller asks
 */
export function termsOf(call: Call, policy: PolicyConfig | undefined): Terms | null {
  const { asked, directives } = call
  const wanted = directives.crossValidation
  const own = policy ?? noPolicy
  const { perGroupQuorum, minGroups, oneVotePerGroup, ignoreFields } = own
  const why = whyNot(call, own.forbidsCallers)
  if (why !== null && wanted !== null) {
    const message = `${asked.method.slice(0, 100)} ${why}; send it without the headers of cross-validation`
    throw new RelayError(errorKinds.badDirective, message)
  }
  if (why !== null && why !== forbidden) return null
  const minGrouped = minGroups * perGroupQuorum
  const policyAgreement = agreementOf(own)
  if (wanted === null && policyAgreement === 0) return null
  const agreement = Math.min(Math.max(policyAgreement, wanted?.agreement ?? 0), own.maxAgreement)
  const minimum = Math.max(own.participants, agreement, minGrouped)
  const participants = Math.min(Math.max(minimum, wanted?.participants ?? 0), own.maxParticipants)
  if (agreement > participants) {
    const message = `${agreement} answers cannot match where no more than ${participants} upstreams may be asked for ${asked.method}`
    throw new RelayError(errorKinds.insufficientCapacityAsked, message)
  }
  return {
    ...{ agreement, minGroups, perGroupQuorum, participants, oneVotePerGroup, ignoreFields },
    minParticipants: Math.min(minimum, participants),
    maxParticipants: wanted === null ? own.maxParticipants : participants,
    isRaised: agreement > policyAgreement,
  }
}

/** The policy has every call cross-validated, and not only those whose caller asks for it. */
export function isMandatory(policy: PolicyConfig): boolean {
  return agreementOf(policy) > 0
}

/** So many answers must match; 0: the policy does not say. Without a number of its own, more than half of those that are asked. */
function agreementOf(policy: PolicyConfig | typeof noPolicy): number {
  const { agreement, participants, minGroups, perGroupQuorum } = policy
  const minGrouped = minGroups * perGroupQuorum
  const majority = participants && Math.floor(participants / 2) + 1
  return agreement || majority || (minGrouped > 1 ? minGrouped : 0)
}

const forbidden = 'may not be cross-validated at the wish of callers'

/** Why a caller may not ask for it; null when it may. */
function whyNot(call: Call, isForbidden: boolean): string | null {
  const { asked, journal } = call
  if (asked.kind === 'write') return 'is a write, which cannot be cross-validated'
  if (asked.kind !== 'read' || asked.stateful !== null)
    return 'is about the state of one node or connection, which cannot be cross-validated'
  if (journal.mayStream || !isWhole(call)) return 'may stream, and cannot be cross-validated'
  return isForbidden ? forbidden : null
}
