// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Condition } from '../api/status.ts'
import {
  type ConditionMeaning,
  type RpcRouterConditionType,
  type RpcRouterReason,
  type UpstreamProviderConditionType,
  type UpstreamProviderReason,
  rpcRouterConditions,
  upstreamProviderConditions,
} from '../api/conditions.ts'

/** What is found of one condition; when it came about is told by `settle`. */
export interface Finding<Type extends string = string> extends Omit<
  Condition,
  'lastTransitionTime' | 'observedGeneration'
> {
  readonly type: Type
}

/** The API takes 32,768 characters. */
const longestMessage = 4096

/** A condition of an RpcRouter. Its status follows from the reason, by the table that is also the reference. */
export function routerFinding<T extends RpcRouterConditionType>(
  type: T,
  reason: RpcRouterReason<T>,
  message: string,
): Finding<T> {
  return finding(rpcRouterConditions[type], type, reason, message)
}

/** A condition of an UpstreamProvider. */
export function providerFinding<T extends UpstreamProviderConditionType>(
  type: T,
  reason: UpstreamProviderReason<T>,
  message: string,
): Finding<T> {
  return finding(upstreamProviderConditions[type], type, reason, message)
}

function finding<T extends string>(
  { reasons }: ConditionMeaning,
  type: T,
  reason: string,
  message: string,
): Finding<T> {
  return { type, status: reasons[reason]?.status ?? 'Unknown', reason, message: cut(message) }
}

/**
 * Makes conditions of findings: one keeps the time of its last transition until its status changes.
 *
 * @param now RFC 3339
 */
export function settle(
  findings: readonly Finding[],
  before: readonly Condition[] | undefined,
  observedGeneration: number,
  now: string,
): Condition[] {
  return findings.map((finding) => {
    const known = before?.find(({ type }) => type === finding.type)
    const isSame = known?.status === finding.status
    const lastTransitionTime = isSame ? known.lastTransitionTime : now
    return { ...finding, observedGeneration, lastTransitionTime }
  })
}

function cut(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`
}

/** Sentences behind each other, each with its end. */
export function sentences(texts: readonly string[]): string {
  return [...new Set(texts)].map((text) => (/[.?!]$/.test(text) ? text : `${text}.`)).join(' ')
}
