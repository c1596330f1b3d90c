// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Judgement } from './judge-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Candidate } from './upstream-plan.ts'
import type { Refusal } from './violation.ts'

/** The largest set of upstreams that the router accepts. */
export interface Pick {
  /** By provider. */
  readonly chosen: ReadonlyMap<string, UpstreamPlan>
  /** Why providers are not used as they are written. */
  readonly refusals: ReadonlyMap<string, readonly Refusal[]>
  /** What the router says of the rest of the config. */
  readonly ofRouter: readonly Refusal[]
}

/**
 * Finds the upstreams that the router accepts: a provider that it refuses goes on in the form in which the pods
 * run it now, or is left out when they do not run it. The others are not touched by that.
 *
 * @param running what the pods run with now, by provider
 */
export function pickUpstreams(
  candidates: readonly Candidate[],
  running: ReadonlyMap<string, UpstreamPlan>,
  judge: (upstreams: readonly UpstreamPlan[]) => Judgement,
): Pick {
  const chosen = new Map<string, UpstreamPlan>()
  const refusals = new Map<string, readonly Refusal[]>()
  const refuse = (provider: string, why: readonly Refusal[]): void => {
    const kept = refusals.has(provider) ? undefined : running.get(provider)
    refusals.set(provider, refusals.get(provider) ?? why)
    if (kept === undefined) chosen.delete(provider)
    else chosen.set(provider, kept)
  }
  for (const { plan, refusals: own } of candidates) {
    if (own.length === 0) chosen.set(plan.provider, plan)
    else refuse(plan.provider, own)
  }
  for (;;) {
    const { ofProviders, ofRouter } = judge([...chosen.values()])
    if (ofProviders.size === 0) return { chosen, refusals, ofRouter }
    for (const [provider, why] of ofProviders) refuse(provider, why)
  }
}
