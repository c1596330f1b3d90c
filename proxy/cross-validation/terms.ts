// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { noPolicy } from '../config/cross-validation.ts'
import type { PolicyConfig } from '../config/types.ts'
import { type Call, isRead, isWhole } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Rule } from './vote.ts'

/** Rules for the cross-validation of one call. */
export interface Terms extends Rule {
  /** Number of upstreams to start with, if that many exist. */
  readonly participants: number
  /** Limit on the number of upstreams, including replacements. */
  readonly maxParticipants: number
  /** Minimum number of upstreams, by the policy and for agreement to be possible. */
  readonly minParticipants: number
  /** Whether the caller requests more matching answers than the policy. */
  readonly isRaised: boolean
  readonly oneVotePerGroup: boolean
  readonly ignoreFields: readonly string[]
}

/**
 * The terms of the method's policy, raised by the caller's request; null if the call is not
 * cross-validated.
 * @throws RelayError if the caller's request is impossible for this call
 */
export function termsOf(call: Call, policy: PolicyConfig = noPolicy): Terms | null {
  const { method, directives } = call
  const requested = directives.crossValidation
  const { perGroupQuorum, minGroups, oneVotePerGroup, ignoreFields } = policy
  const unsupported = unsupportedReason(call)
  const why = unsupported ?? (policy.forbidsCallers ? forbidden : null)
  if (requested !== null && why !== null) {
    const message = `${method.name.slice(0, 100)} ${why}; send it without the headers of cross-validation`
    throw new RelayError(errorKinds.badDirective, message)
  }
  if (unsupported !== null || (requested === null && policy.agreement === 0)) return null
  const raised = Math.max(policy.agreement, requested?.agreement ?? 0)
  const agreement = Math.min(raised, policy.maxAgreement)
  const minimum = Math.max(policy.participants, agreement, minGroups * perGroupQuorum)
  const wanted = Math.max(minimum, requested?.participants ?? 0)
  const participants = Math.min(wanted, policy.maxParticipants)
  if (agreement > participants) {
    const message = `${agreement} answers cannot match where no more than ${participants} upstreams may be queried for ${method.name}`
    throw new RelayError(errorKinds.insufficientCapacityAsked, message)
  }
  return {
    ...{ agreement, minGroups, perGroupQuorum, participants, oneVotePerGroup, ignoreFields },
    minParticipants: Math.min(minimum, participants),
    maxParticipants: requested === null ? policy.maxParticipants : participants,
    isRaised: agreement > policy.agreement,
  }
}

const forbidden = 'may not be cross-validated at the request of callers'

/** Why this kind of call cannot be cross-validated; null if it can. */
function unsupportedReason(call: Call): string | null {
  const { method, journal } = call
  if (method.kind === 'write') return 'is a write, which cannot be cross-validated'
  if (method.kind !== 'read' || method.stateful !== null)
    return 'is about the state of one node or connection, which cannot be cross-validated'
  const mayStream = journal.mayStream || !isWhole(call)
  if (mayStream) return 'may stream, and cannot be cross-validated'
  return isRead(call) ? null : 'is not known to be a read, and cannot be cross-validated'
}
