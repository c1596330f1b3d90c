// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { FailureClass } from '../chain/failure-table.ts'
import type { ApiInterface } from '../config/types.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import { bufferOf, memberOf } from '../json/scanner.ts'

/** One upstream's answer, compared only for equality. */
export interface Vote {
  readonly group: string
  /** Equal texts mean equal answers. */
  readonly answer: string
}

/** Thresholds of agreement: votes for one answer, groups among them, and votes per group. */
export interface Rule {
  readonly agreement: number
  readonly minGroups: number
  readonly perGroupQuorum: number
}

type VoteFailure =
  'insufficient-responses' | 'no-agreement' | 'diversity-unmet' | 'group-quorum-unmet'

/** Result of a vote. */
export interface Decision {
  /** Null means agreement. */
  readonly failure: VoteFailure | null
  /** On failure, the leading answer if only groups are missing or there is no other answer. */
  readonly answer: string | null
}

/**
 * Decides on the votes so far. The answer with the most votes wins once it meets the rule and no
 * other can overtake it. So no minority wins, whatever the threshold and the order of votes.
 *
 * @param pending votes that may come soon
 * @param late votes that may still come, but are not awaited if the rest agrees
 * @returns null while more votes may change the result
 */
export function decide(
  votes: readonly Vote[],
  rule: Rule,
  pending: number,
  late = 0,
): Decision | null {
  const byAnswer = [...Map.groupBy(votes, ({ answer }) => answer)]
  const ranked = byAnswer.toSorted(([, a], [, b]) => b.length - a.length)
  const count = ranked[0]?.[1].length ?? 0
  const best = ranked.filter(([, own]) => own.length === count)
  const agreed = best.find(
    ([, own]) => own.length >= rule.agreement && groupShortage(own, rule) === null,
  )
  const next = ranked.find((each) => each !== agreed)?.[1].length ?? 0
  if (agreed && count >= next + pending) return { failure: null, answer: agreed[0] }
  if (pending + late > 0) return null
  const [first] = best
  const lack = first && count >= rule.agreement ? groupShortage(first[1], rule) : null
  const other = votes.length < rule.agreement ? 'insufficient-responses' : 'no-agreement'
  const isNamed = lack !== null || byAnswer.length === 1
  return { failure: lack ?? other, answer: isNamed && first ? first[0] : null }
}

/** What the groups of these votes lack; null for nothing. */
function groupShortage(own: readonly Vote[], rule: Rule): VoteFailure | null {
  const groups = [...Map.groupBy(own, ({ group }) => group).values()]
  if (groups.length < rule.minGroups) return 'diversity-unmet'
  const full = groups.filter(({ length }) => length >= rule.perGroupQuorum)
  return full.length < rule.minGroups ? 'group-quorum-unmet' : null
}

/** Extracts the revert data from the node's own wording; empty if there is none. */
function revertData(name: string, body: Uint8Array): string {
  const error = name.startsWith('execution-reverted') ? memberOf(body, 'error') : null
  const members = error && body.subarray(error.start, error.end)
  const data = members && memberOf(members, 'data')
  if (!data) return ''
  const text = bufferOf(members).toString('latin1', data.start, data.end)
  return /0x[0-9a-f]+/i.exec(text)?.[0].toLowerCase() ?? ''
}

const maxExcerptLength = 256

/**
 * The comparable part of an answer: canonical JSON without ignored fields, or bytes. For an error,
 * the class and the contract's data. Also returns an excerpt for the log.
 *
 * @param body the whole body
 * @param ignored paths of fields to leave out
 * @param anyCaseHex whether to ignore the case of hex digits
 */
export function digestOf(
  { refusal }: { readonly refusal: Pick<FailureClass, 'name'> | null },
  body: Uint8Array,
  apiInterface: ApiInterface,
  ignored: readonly string[],
  anyCaseHex = false,
): { readonly answer: string; readonly excerpt: string } {
  // Tendermint RPC nodes omit the envelope of some answers.
  const member = apiInterface === 'rest' ? null : 'result'
  const result = apiInterface === 'grpc' ? null : canonicalJson(body, member, ignored, anyCaseHex)
  const text = refusal === null ? result : `error ${refusal.name} ${revertData(refusal.name, body)}`
  const excerpt = text ?? Buffer.from(body.subarray(0, maxExcerptLength)).toString('hex')
  const answer = hash('sha256', text ?? body, 'hex').slice(0, 32)
  return { answer, excerpt: excerpt.slice(0, maxExcerptLength) }
}
