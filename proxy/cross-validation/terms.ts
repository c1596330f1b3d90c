// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { noPolicy } from '../config/cross-validation.ts'
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

/**
 * The terms of the policy of the method, raised by what the caller asks for; null when the call is not
 * cross-validated.
 * @throws RelayError for a call that cannot be cross-validated as its caller asks
 */
export function termsOf(call: Call, policy: PolicyConfig = noPolicy): Terms | null {
  const { method, directives } = call
  const wanted = directives.crossValidation
  const { perGroupQuorum, minGroups, oneVotePerGroup, ignoreFields } = policy
  const unfit = whyUnfit(call)
  const why = unfit ?? (policy.forbidsCallers ? forbidden : null)
  if (wanted !== null && why !== null) {
    const message = `${method.name.slice(0, 100)} ${why}; send it without the headers of cross-validation`
    throw new RelayError(errorKinds.badDirective, message)
  }
  if (unfit !== null || (wanted === null && policy.agreement === 0)) return null
  const raised = Math.max(policy.agreement, wanted?.agreement ?? 0)
  const agreement = Math.min(raised, policy.maxAgreement)
  const minimum = Math.max(policy.participants, agreement, minGroups * perGroupQuorum)
  const most = Math.max(minimum, wanted?.participants ?? 0)
  const participants = Math.min(most, policy.maxParticipants)
  if (agreement > participants) {
    const message = `${agreement} answers cannot match where no more than ${participants} upstreams may be asked for ${method.name}`
    throw new RelayError(errorKinds.insufficientCapacityAsked, message)
  }
  return {
    ...{ agreement, minGroups, perGroupQuorum, participants, oneVotePerGroup, ignoreFields },
    minParticipants: Math.min(minimum, participants),
    maxParticipants: wanted === null ? policy.maxParticipants : participants,
    isRaised: agreement > policy.agreement,
  }
}

const forbidden = 'may not be cross-validated at the wish of callers'

/** Why no call of its kind can be cross-validated; null when it can. */
function whyUnfit(call: Call): string | null {
  const { method, journal } = call
  if (method.kind === 'write') return 'is a write, which cannot be cross-validated'
  if (method.kind !== 'read' || method.stateful !== null)
    return 'is about the state of one node or connection, which cannot be cross-validated'
  const mayStream = journal.mayStream || !isWhole(call)
  return mayStream ? 'may stream, and cannot be cross-validated' : null
}
