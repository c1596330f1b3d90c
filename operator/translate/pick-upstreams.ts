// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Judgement } from './judge-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Steps } from './steps.ts'
import type { ProviderRefusal, RouterRefusal } from './violation.ts'

/** What one provider can be in the config. */
export interface Choice {
  readonly provider: string
  /** The best first. */
  readonly forms: readonly UpstreamPlan[]
  /** Why the provider is not among them as it is written. */
  readonly refusals: readonly ProviderRefusal[]
}

/** The largest set of upstreams that the router accepts. */
export interface Pick {
  /** By provider. */
  readonly chosen: ReadonlyMap<string, UpstreamPlan>
  /** Why providers are not used in their best form. */
  readonly refusals: ReadonlyMap<string, readonly ProviderRefusal[]>
  /** What the router says of the rest of the config. */
  readonly ofRouter: readonly RouterRefusal[]
}

/**
 * Finds the upstreams that the router accepts: of each provider the first form that it does not refuse, or none. The
 * others are not touched by that.
 */
export function* pickUpstreams(
  choices: readonly Choice[],
  judge: (upstreams: readonly UpstreamPlan[]) => Steps<Judgement>,
): Steps<Pick> {
  const left = new Map(choices.map(({ provider, forms }) => [provider, forms]))
  const refusals = new Map(
    choices
      .filter((choice) => choice.refusals.length > 0)
      .map((choice) => [choice.provider, choice.refusals]),
  )
  for (;;) {
    const chosen = new Map([...left].flatMap(([name, [best]]) => (best ? [[name, best]] : [])))
    const { ofProviders, ofRouter } = yield* judge([...chosen.values()])
    if (ofProviders.size === 0) return { chosen, refusals, ofRouter }
    for (const [provider, why] of ofProviders) {
      refusals.set(provider, refusals.get(provider) ?? why)
      left.set(provider, left.get(provider)?.slice(1) ?? [])
    }
  }
}
