// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One upstream's answer, of which only equality counts. */
export interface Vote {
  readonly upstream: string
  readonly group: string
  /** The same text for the same answer. */
  readonly answer: string
}

/** What makes an answer the agreed one. */
export interface Rule {
  /** So many votes for it. */
  readonly agreement: number
  /** From so many groups, */
  readonly minGroups: number
  /** each with so many of these votes. */
  readonly perGroupQuorum: number
}

export type VoteFailure =
  'insufficient-responses' | 'no-agreement' | 'diversity-unmet' | 'group-quorum-unmet'

export type Decision =
  | { readonly kind: 'agreed'; readonly answer: string }
  /** More votes may change it. */
  | { readonly kind: 'open' }
  /** `answer`: the one with the most votes, where too few groups gave it. */
  | { readonly kind: 'failed'; readonly reason: VoteFailure; readonly answer: string | null }

/**
 * Decides by the votes that are in. The answer with the most votes is agreed on once it meets the rule and
 * no other can get as many: so no minority wins, whatever the threshold and the order of votes.
 *
 * @param pending votes that may come soon
 * @param late votes that may still come, but are not waited for when the rest agrees
 */
export function decide(votes: readonly Vote[], rule: Rule, pending: number, late = 0): Decision {
  const byAnswer = [...Map.groupBy(votes, ({ answer }) => answer)]
  const [best, next] = byAnswer.toSorted(([, a], [, b]) => b.length - a.length)
  const count = best?.[1].length ?? 0
  const nextCount = next?.[1].length ?? 0
  const groups = Map.groupBy(best?.[1] ?? [], ({ group }) => group)
  const sizes = [...groups.values()].map(({ length }) => length)
  const quorums = sizes.filter((size) => size >= rule.perGroupQuorum).length
  const isMet = best && count >= rule.agreement && quorums >= rule.minGroups
  if (isMet && count > nextCount + pending) return { kind: 'agreed', answer: best[0] }
  if (pending + late > 0) return { kind: 'open' }
  if (votes.length < rule.agreement) return failed('insufficient-responses')
  if (count < rule.agreement || count === nextCount) return failed('no-agreement')
  const reason = sizes.length < rule.minGroups ? 'diversity-unmet' : 'group-quorum-unmet'
  return { kind: 'failed', reason, answer: best?.[0] ?? null }
}

const failed = (reason: VoteFailure): Decision => ({ kind: 'failed', reason, answer: null })
