// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { Endpoint } from '../api/endpoints.ts'
import { environmentOf } from './environment.ts'
import { type Judgement, judgeConfig } from './judge-config.ts'
import { pickUpstreams } from './pick-upstreams.ts'
import { renderConfig } from './rendered-config.ts'
import {
  planRouter,
  type RouterDocument,
  routerDocument,
  type RouterPlan,
} from './router-document.ts'
import type { UpstreamPlan } from './router-document.ts'
import { refusalsOfSpec, tooLarge, unservedEndpoints } from './router-refusals.ts'
import { Serving } from './serving.ts'
import { settleReferences, type Settled } from './settle-references.ts'
import { usesBundledSpecsAlone } from './spec-source-section.ts'
import { chooseState } from './state-store.ts'
import type { ProviderVerdict, TranslateInput, Translation } from './translation.ts'
import { type Candidate, chainNames, planUpstreams } from './upstream-plan.ts'
import type { Dangling, Refusal } from './violation.ts'

/** Translates a router and its providers into the config of the pods. Pure; judged by the router's own parser. */
export function translate(input: TranslateInput): Translation {
  return new Translator(input).translate()
}

const nothingWrong: Judgement = { ofRouter: [], ofProviders: new Map() }

class Translator {
  readonly #input: TranslateInput
  /** Null when the config brings chain specs of its own, which only the router can read. */
  readonly #chains: KnownChains | null
  readonly #chainIdOf: (chainId: string) => string
  readonly #serving: Serving
  readonly #state: Translation['state']
  readonly #plan: RouterPlan

  constructor(input: TranslateInput) {
    const { spec } = input.router
    this.#input = input
    this.#chains = usesBundledSpecsAlone(spec.specSources) ? input.chains : null
    this.#chainIdOf = chainNames(this.#chains)
    this.#serving = new Serving(spec.endpoints, this.#chainIdOf)
    this.#state = chooseState(spec)
    this.#plan = planRouter(input.router, this.#state, input.data, this.#chainIdOf)
  }

  translate(): Translation {
    const { providers, data, router } = this.#input
    const { secretHashes } = this.#input.running
    const running = new Map(this.#input.running.upstreams.map((plan) => [plan.provider, plan]))
    const isRunning = (provider: string) => running.has(provider)
    const candidates = planUpstreams(providers, isRunning, this.#serving, this.#chainIdOf, data)
    const pick = pickUpstreams(candidates, running, (upstreams) => this.#judge(upstreams))
    const settled = settleReferences(candidates, pick.chosen, running, data)
    const upstreams = this.#serving.used(settled.upstreams)
    const served = this.#serving.served(upstreams)
    const unserved = router.spec.endpoints.filter((endpoint) => !served.includes(endpoint))
    const config = renderConfig(this.#document(upstreams), this.#plan, data, secretHashes)
    const chosen = [...pick.chosen.values()]
    const blocking = [
      ...refusalsOfSpec(router.spec),
      ...this.#state.refusals,
      ...(settled.waiting.size === 0 ? pick.ofRouter : this.#judgeWhole(upstreams)),
      ...tooLarge(config),
    ]
    const awaited = [...this.#plan.dangling, ...settled.held]
    const isBlocked = blocking.length > 0 || awaited.length > 0 || served.length === 0
    return {
      config: isBlocked ? null : config,
      refusals: [
        ...blocking,
        ...unservedEndpoints(unserved, this.#serving, chosen, candidates, this.#chains),
      ],
      dangling: [...awaited, ...this.#missing(unserved, chosen, settled)],
      providers: candidates.map((candidate) => verdictOf(candidate, pick.refusals, upstreams)),
      endpoints: router.spec.endpoints.map((endpoint) => ({
        endpoint,
        upstreams: this.#serving.of(endpoint, upstreams).length,
        served: served.includes(endpoint),
      })),
      state: this.#state,
    }
  }

  #document(upstreams: readonly UpstreamPlan[]): RouterDocument {
    const served = this.#serving.served(upstreams)
    return routerDocument(this.#input.router, this.#plan, served, this.#chainIdOf, upstreams)
  }

  /** What the router says; nothing while it would have no listener to open. */
  #judge(all: readonly UpstreamPlan[]): Judgement {
    const upstreams = this.#serving.used(all)
    if (upstreams.length === 0) return nothingWrong
    const environment = environmentOf([this.#plan, ...upstreams], this.#input.data)
    return judgeConfig(this.#document(upstreams), environment, this.#chains)
  }

  #judgeWhole(upstreams: readonly UpstreamPlan[]): readonly Refusal[] {
    const { ofRouter, ofProviders } = this.#judge(upstreams)
    return [...ofRouter, ...[...ofProviders.values()].flat()]
  }

  /** What endpoints wait for that are closed for want of references alone. */
  #missing(
    unserved: readonly Endpoint[],
    chosen: readonly UpstreamPlan[],
    { waiting }: Settled,
  ): readonly Dangling[] {
    const providers = new Set(
      unserved.flatMap((endpoint) =>
        this.#serving.of(endpoint, chosen).map(({ provider }) => provider),
      ),
    )
    return [...waiting].flatMap(([provider, dangling]) => (providers.has(provider) ? dangling : []))
  }
}

function verdictOf(
  { plan, dangling }: Candidate,
  refusals: ReadonlyMap<string, readonly Refusal[]>,
  upstreams: readonly UpstreamPlan[],
): ProviderVerdict {
  const { provider } = plan
  const used = upstreams.find((upstream) => upstream.provider === provider)
  const fate = used === undefined ? 'left-out' : used === plan ? 'used' : 'kept'
  return { provider, fate, plan, refusals: refusals.get(provider) ?? [], dangling }
}
