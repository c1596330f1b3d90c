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
  /** There must be as many upstreams: by the policy, and for the answer to be agreed on at all. */
  readonly minParticipants: number
  /** The caller asks for more matching answers than the policy. */
  readonly isRaised: boolean
  readonly oneVotePerGroup: boolean
  readonly ignoreFields: readonly string[]
}

const noPolicy: Omit<PolicyConfig, 'chainId' | 'apiInterface' | 'method'> = {
  agreement: 0,
  maxAgreement: Infinity,
  participants: 0,
  maxParticipants: Infinity,
  minGroups: 1,
  perGroupQuorum: 1,
  oneVotePerGroup: false,
  ignoreFields: [],
  forbidsCallers: false,
}

/**
 * The terms of the policy of the method, raised by what the caller asks for; null when the call is not
 * cross-validated.
 * @throws RelayError for a call that cannot be cross-validated as its caller asks
 */
export function termsOf(call: Call, policy: PolicyConfig | undefined): Terms | null {
  const { asked, directives, journal } = call
  const wanted = directives.crossValidation
  const own = policy ?? noPolicy
  const { perGroupQuorum, minGroups } = own
  if (asked.kind !== 'read' || asked.stateful !== null || journal.mayStream || !isWhole(call)) {
    if (wanted === null) return null
    const message = `${asked.method.slice(0, 100)} is a ${kindOf(call)}, which cannot be cross-validated; send it without the headers`
    throw new RelayError(errorKinds.badDirective, message)
  }
  if (wanted !== null && own.forbidsCallers) {
    const message = `callers may not ask for cross-validation of ${asked.method}; send it without the headers`
    throw new RelayError(errorKinds.badDirective, message)
  }
  if (wanted === null && own.agreement === 0 && own.participants === 0) return null
  const policyAgreement =
    own.agreement || (own.participants && Math.floor(own.participants / 2) + 1)
  const agreement = Math.min(Math.max(policyAgreement, wanted?.agreement ?? 0), own.maxAgreement)
  const minimum = Math.max(own.participants, agreement, minGroups * perGroupQuorum)
  const participants = Math.min(Math.max(minimum, wanted?.participants ?? 0), own.maxParticipants)
  if (agreement > participants) {
    const message = `${agreement} answers cannot match where no more than ${participants} upstreams may be asked for ${asked.method}`
    throw new RelayError(errorKinds.insufficientCapacityAsked, message)
  }
  return {
    agreement,
    participants,
    minParticipants: Math.min(minimum, participants),
    isRaised: agreement > policyAgreement,
    minGroups,
    perGroupQuorum,
    oneVotePerGroup: own.oneVotePerGroup,
    ignoreFields: own.ignoreFields,
  }
}

function kindOf({ asked, journal }: Call): string {
  if (asked.kind === 'write') return 'write'
  if (asked.kind === 'subscribe') return 'subscription'
  return journal.mayStream ? 'stream' : 'call about the state of one node'
}
