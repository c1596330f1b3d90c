// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { Endpoint } from '../api/endpoints.ts'
import { largestOf, refusalsOfLength, refusalsOfSize } from './bounds.ts'
import { environmentOf } from './environment.ts'
import { type Judgement, judgeConfig } from './judge-config.ts'
import { refusalsOfTls } from './judge-tls.ts'
import { type Pick, pickUpstreams } from './pick-upstreams.ts'
import { type RenderedConfig, renderConfig } from './rendered-config.ts'
import {
  planRouter,
  type RouterDocument,
  routerDocument,
  type RouterPlan,
} from './router-document.ts'
import type { UpstreamPlan } from './router-document.ts'
import { refusalsOfSpec, unservedEndpoints } from './router-refusals.ts'
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
  /** What the pods run with, by provider. */
  readonly #running: ReadonlyMap<string, UpstreamPlan>

  constructor(input: TranslateInput) {
    const { spec } = input.router
    this.#input = input
    this.#chains = usesBundledSpecsAlone(spec.specSources) ? input.chains : null
    this.#chainIdOf = chainNames(this.#chains)
    this.#serving = new Serving(spec.endpoints, this.#chainIdOf)
    this.#state = chooseState(spec)
    this.#plan = planRouter(input.router, this.#state, input.data, this.#chainIdOf)
    this.#running = new Map(input.running.upstreams.map((plan) => [plan.provider, plan]))
  }

  translate(): Translation {
    const { providers, data, router, newPods } = this.#input
    const running = this.#running
    const isRunning = (provider: string) => running.has(provider)
    const candidates = planUpstreams(providers, isRunning, this.#serving, this.#chainIdOf, data)
    const pick = pickUpstreams(candidates, running, (upstreams) => this.#judge(upstreams))
    const settled = settleReferences(candidates, pick.chosen, running, data)
    const closing = this.#closingWithout(settled)
    const usable = newPods && closing.size === 0 ? startable(settled) : settled.upstreams
    const isPicked = settled.waiting.size === 0 && settled.lost.size === 0
    const { chosen: sound, ofRouter } = isPicked ? pick : this.#pickAgain(usable)
    const upstreams = this.#serving.used(usable.filter(({ provider }) => sound.has(provider)))
    const served = this.#serving.served(upstreams)
    const unserved = router.spec.endpoints.filter((endpoint) => !served.includes(endpoint))
    const config = this.#render(upstreams)
    const chosen = [...pick.chosen.values()]
    const blocking = [
      ...refusalsOfSpec(router.spec),
      ...this.#state.refusals,
      ...ofRouter,
      ...refusalsOfLength(this.#plan, data),
      ...refusalsOfSize(config, data),
    ]
    const awaited = [...this.#plan.dangling, ...[...closing.values()].flat()]
    const isHeld = this.#plan.dangling.length > 0 || (newPods && closing.size > 0)
    const isBlocked = blocking.length > 0 || isHeld || served.length === 0
    return {
      config: isBlocked ? null : config,
      startable: upstreams.every(({ provider }) => !settled.lost.has(provider)),
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
  #judge(picked: readonly UpstreamPlan[]): Judgement {
    const upstreams = this.#serving.used(picked)
    if (upstreams.length === 0) return nothingWrong
    const { data } = this.#input
    const environment = environmentOf([this.#plan, ...upstreams], data)
    const document = this.#document(upstreams)
    const { ofRouter, ofProviders } = judgeConfig(document, environment, this.#chains)
    const all = new Map(ofProviders)
    for (const plan of upstreams) {
      const ofValues = [...refusalsOfLength(plan, data), ...refusalsOfTls(plan, data)]
      if (ofValues.length > 0)
        all.set(plan.provider, [...(all.get(plan.provider) ?? []), ...ofValues])
    }
    return { ofRouter, ofProviders: all.size > 0 ? all : this.#judgeSize(upstreams) }
  }

  /** Refuses one of them when they are too much together, and would not be without it or others. */
  #judgeSize(upstreams: readonly UpstreamPlan[]): Judgement['ofProviders'] {
    const [tooMuch] = this.#refusalsOfSize(upstreams)
    const largest = largestOf(upstreams, this.#running, this.#input.data)
    if (tooMuch === undefined || largest === null || this.#refusalsOfSize([]).length > 0)
      return new Map()
    const message = `with it, ${tooMuch.message}`
    return new Map([[largest.provider, [{ ...tooMuch, message }]]])
  }

  #refusalsOfSize(upstreams: readonly UpstreamPlan[]): readonly Refusal[] {
    return refusalsOfSize(this.#render(upstreams), this.#input.data)
  }

  #render(upstreams: readonly UpstreamPlan[]): RenderedConfig {
    const { data, running } = this.#input
    return renderConfig(this.#document(upstreams), this.#plan, data, running.secretHashes)
  }

  /** Some are not in the form in which they were picked: those go that the router refuses in the other one. */
  #pickAgain(upstreams: readonly UpstreamPlan[]): Pick {
    const candidates = upstreams.map((plan) => ({ plan, refusals: [], dangling: [] }))
    return pickUpstreams(candidates, new Map(), (all) => this.#judge(all))
  }

  /** By provider: what pods run with and is gone, where an endpoint would close that only such providers serve. */
  #closingWithout({ upstreams, lost }: Settled): ReadonlyMap<string, readonly Dangling[]> {
    const left = this.#serving.served(startable({ upstreams, lost }))
    const closing = this.#serving.served(upstreams).filter((endpoint) => !left.includes(endpoint))
    const providers = closing.flatMap((endpoint) => this.#serving.of(endpoint, upstreams))
    return new Map(
      providers.flatMap(({ provider }) => {
        const gone = lost.get(provider) ?? []
        return gone.length === 0
          ? []
          : [[provider, gone.map((each) => held(each, closing))] as const]
      }),
    )
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

/** Those with which new pods can start. */
function startable({ upstreams, lost }: Omit<Settled, 'waiting'>) {
  return upstreams.filter(({ provider }) => !lost.has(provider))
}

function held(gone: Dangling, closing: readonly Endpoint[]): Dangling {
  const names = closing.map(({ name }) => name).join(', ')
  const message = `${gone.message}; no pod is replaced before it is back, since nothing else serves ${names}`
  return { ...gone, message }
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
