// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import { refusalsOfVariables, refusalsOfSize, Sizes, withIt } from './bounds.ts'
import { type JudgedSpecs, judgeSpecs } from './chain-check.ts'
import { environmentOf } from './environment.ts'
import { type Judgement, judgeConfig } from './judge-config.ts'
import { refusalsOfTls } from './judge-tls.ts'
import { type Choice, type Pick, pickUpstreams } from './pick-upstreams.ts'
import type { ReferenceData } from './reference-data.ts'
import { ofLast } from './of-last.ts'
import { type RenderedConfig, renderConfig } from './rendered-config.ts'
import {
  planRouter,
  type RouterDocument,
  routerDocument,
  type RouterPlan,
  type UpstreamPlan,
} from './router-document.ts'
import { refusalsOfSpec, unservedEndpoints } from './router-refusals.ts'
import { RunningForms } from './running-forms.ts'
import { hashSecrets } from './secret-hashes.ts'
import { Serving } from './serving.ts'
import { settleReferences, type Settled } from './settle-references.ts'
import { usesBundledSpecsAlone } from './spec-source-section.ts'
import { chooseState } from './state-store.ts'
import { finish, type Steps } from './steps.ts'
import type { ProviderVerdict, TranslateInput, Translation } from './translation.ts'
import { type Candidate, chainNames, planUpstreams, unreadableCandidate } from './upstream-plan.ts'
import type { ConfigRefusal, Dangling, ProviderRefusal, Unmet } from './violation.ts'

/** Translates a router and its providers into the config of the pods. Pure; judged by the router's own parser. */
export function translate(input: TranslateInput): Translation {
  return finish(translateInSteps(input))
}

/** The same in steps, for those who have more to do. What there is of `data` is looked up before the first ends. */
export function translateInSteps(input: TranslateInput): Steps<Translation> {
  return new Translator(input).translate()
}

/** By provider: what pods run with and new pods would not find. */
type Lost = ReadonlyMap<string, readonly Unmet[]>

/** What became of the candidates. */
interface Outcome {
  /** Of all of them, were every reference there. */
  readonly pick: Pick
  readonly waiting: Settled['waiting']
  readonly lost: Lost
  /** New pods are asked for, and would have nothing to serve. */
  readonly isHeld: boolean
  /** New pods are asked for, and do without what is lost. */
  readonly isLeft: boolean
  /** By provider: what the config has. */
  readonly usable: Pick['chosen']
  readonly ofRouter: Pick['ofRouter']
  readonly closing: readonly Closing[]
}

const nothingWrong: Judgement = { ofRouter: [], ofProviders: new Map() }

class Translator {
  readonly #input: TranslateInput
  #specs: JudgedSpecs = { refusals: [], check: () => [] }
  readonly #chainIdOf: (chainId: string) => string
  readonly #serving: Serving
  readonly #state: Translation['state']
  readonly #plan: RouterPlan
  readonly #running: RunningForms
  readonly #sizes: Sizes
  /** What was found wrong with each upstream by itself. */
  readonly #judged = new Map<UpstreamPlan, readonly ProviderRefusal[]>()
  // Of all upstreams together: most are asked for again as they were.
  readonly #document = ofLast((upstreams: readonly UpstreamPlan[]) => this.#write(upstreams))
  readonly #config = ofLast((upstreams: readonly UpstreamPlan[]) => this.#render(upstreams))
  readonly #together = ofLast((upstreams: readonly UpstreamPlan[]) => this.#judgeAll(upstreams))

  constructor(input: TranslateInput) {
    const { spec } = input.router
    this.#input = input
    // What names a spec of one's own gives to which chain only the router knows.
    this.#chainIdOf = chainNames(usesBundledSpecsAlone(spec.specSources) ? input.chains : null)
    this.#serving = new Serving(spec.endpoints, this.#chainIdOf)
    this.#state = chooseState(spec)
    this.#plan = planRouter(input.router, this.#state, input.data, this.#chainIdOf)
    this.#running = new RunningForms(input.running, input.data)
    this.#sizes = new Sizes(this.#running)
  }

  *translate(): Steps<Translation> {
    const { router, chains } = this.#input
    const candidates = this.#candidates()
    this.#specs = yield* judgeSpecs(router.spec.specSources, this.#plan.specs, chains)
    const settled = yield* this.#settle(candidates)
    yield
    return this.#conclude(candidates, settled)
  }

  #candidates(): readonly Candidate[] {
    const { providers, unreadable = [], data, router } = this.#input
    const isRunning = (provider: string) => this.#running.of(provider).length > 0
    return planUpstreams(
      router.metadata.name,
      providers,
      isRunning,
      this.#serving,
      this.#chainIdOf,
      data,
      unreadable.map((each) => unreadableCandidate(each, this.#running.of(each.name)[0])),
    )
  }

  /** In which form each candidate is used, if it is. */
  *#settle(candidates: readonly Candidate[]): Steps<Outcome> {
    const written = new Set(candidates.map(({ plan }) => plan))
    const pick = yield* this.#pick(candidates.map((candidate) => this.#choice(candidate)))
    const { choices, waiting } = settleReferences(candidates, pick.chosen, this.#running)
    const resolved = waiting.size === 0 ? pick : yield* this.#pick(choices)
    const lost = this.#lost([...resolved.chosen.values()].filter((plan) => !written.has(plan)))
    const isAsked = this.#input.newPods && lost.size > 0
    const left = isAsked ? yield* this.#pickWithout(resolved, lost) : null
    const isHeld = left !== null && this.#serving.served([...left.chosen.values()]).length === 0
    const isLeft = left !== null && !isHeld
    const { chosen: usable, ofRouter } = isLeft ? left : resolved
    const closing = isLeft ? [] : this.#closingWithout([...resolved.chosen.values()], lost)
    return { pick, waiting, lost, isHeld, isLeft, usable, ofRouter, closing }
  }

  /** The config of what is used, judged as a whole, and what is said of it. */
  #conclude(
    candidates: readonly Candidate[],
    { pick, waiting, lost, isHeld, isLeft, usable, ofRouter, closing }: Outcome,
  ): Translation {
    const { router, data } = this.#input
    const upstreams = this.#serving.used([...usable.values()])
    const served = this.#serving.served(upstreams)
    const unserved = router.spec.endpoints.filter((endpoint) => !served.includes(endpoint))
    const config = this.#config(upstreams)
    // What is left out for a refusal serves no more than what never ran.
    const isOut = (provider: string) => isLeft && lost.has(provider) && pick.refusals.has(provider)
    const chosen = [...pick.chosen.values()].filter(({ provider }) => !isOut(provider))
    const blocking = [
      ...refusalsOfSpec(router.spec),
      ...this.#state.refusals,
      ...this.#specs.refusals,
      ...ofRouter,
      ...refusalsOfVariables(this.#plan, data),
      ...this.#refusalsOfSize(upstreams, config),
    ]
    const awaited = [...this.#plan.dangling, ...closing.map(closingText)]
    const isWaiting = this.#plan.dangling.length > 0 || isHeld
    const isBlocked = blocking.length > 0 || isWaiting || served.length === 0
    return {
      config: isBlocked ? null : config,
      startable: upstreams.every(({ provider }) => !lost.has(provider)),
      closing: closing.length > 0,
      refusals: [
        ...blocking,
        ...unservedEndpoints(
          router,
          unserved,
          this.#serving,
          chosen,
          candidates,
          this.#specs.check,
        ),
      ],
      dangling: [...awaited, ...this.#missing(unserved, chosen, waiting)],
      providers: candidates.map((candidate) =>
        verdictOf(candidate, pick.refusals, upstreams, lost, data),
      ),
      endpoints: router.spec.endpoints.map((endpoint) => ({
        endpoint,
        upstreams: this.#serving.of(endpoint, upstreams).length,
        served: served.includes(endpoint),
      })),
      state: this.#state,
    }
  }

  #pick(choices: readonly Choice[]): Steps<Pick> {
    return pickUpstreams(choices, (upstreams) => this.#judge(upstreams))
  }

  /** As it is written, else as the pods run it. */
  #choice({ plan, refusals }: Candidate): Choice {
    const { provider } = plan
    const forms = this.#running.of(provider)
    return { provider, forms: refusals.length === 0 ? [plan, ...forms] : forms, refusals }
  }

  /** By provider: what pods run with and new pods would not find. */
  #lost(upstreams: readonly UpstreamPlan[]): Lost {
    return new Map(
      upstreams.flatMap((plan) => {
        const gone = this.#running.lostBy(plan)
        return gone.length === 0 ? [] : [[plan.provider, gone] as const]
      }),
    )
  }

  /** Without these, the router may have something else to say. */
  #pickWithout({ chosen }: Pick, lost: Lost): Steps<Pick> {
    const left = [...chosen].filter(([provider]) => !lost.has(provider))
    return this.#pick(left.map(([provider, plan]) => ({ provider, forms: [plan], refusals: [] })))
  }

  #write(upstreams: readonly UpstreamPlan[]): RouterDocument {
    const served = this.#serving.served(upstreams)
    return routerDocument(this.#input.router, this.#plan, served, this.#chainIdOf, upstreams)
  }

  /** What the router says; nothing while it would have no listener to open. */
  *#judge(picked: readonly UpstreamPlan[]): Steps<Judgement> {
    const upstreams = this.#serving.used(picked)
    if (upstreams.length === 0) return nothingWrong
    // Nearly always all of them are good, and need not be read one by one.
    if (isQuicklyRead(upstreams) && this.#areGood(upstreams)) return nothingWrong
    yield
    const alone = new Map<string, readonly ProviderRefusal[]>()
    for (const plan of upstreams) {
      const refusals = this.#judgeAlone(plan)
      if (refusals.length > 0) alone.set(plan.provider, refusals)
      yield
    }
    if (alone.size > 0) return { ofRouter: [], ofProviders: alone }
    const surplus = yield* this.#surplus(upstreams)
    if (surplus.size > 0) return { ofRouter: [], ofProviders: surplus }
    yield
    return this.#together(upstreams)
  }

  /** Most mistakes are those of one upstream, and are found without reading all of them again. */
  #judgeAlone(plan: UpstreamPlan): readonly ProviderRefusal[] {
    const known = this.#judged.get(plan)
    if (known !== undefined) return known
    const data = this.#running.dataFor(plan)
    const primary = { ...plan, tier: 'primary' as const }
    const { ofProviders } = judgeConfig(
      this.#document([primary]),
      Object.assign(this.#environment([]), environmentOf(plan, data)),
      this.#specs.check,
    )
    const refusals = [...(ofProviders.get(plan.provider) ?? []), ...this.#refusalsOfValues(plan)]
    this.#judged.set(plan, refusals)
    return refusals
  }

  #refusalsOfValues(plan: UpstreamPlan): readonly ProviderRefusal[] {
    const data = this.#running.dataFor(plan)
    return [...refusalsOfVariables(plan, data), ...refusalsOfTls(plan, data)]
  }

  /** Whether nothing is wrong with any of them, and nothing with all of them: then each is good by itself. */
  #areGood(upstreams: readonly UpstreamPlan[]): boolean {
    if (upstreams.some((plan) => this.#refusalsOfValues(plan).length > 0)) return false
    const { ofRouter, ofProviders } = this.#together(upstreams)
    return ofRouter.length === 0 && ofProviders.size === 0
  }

  #judgeAll(upstreams: readonly UpstreamPlan[]): Judgement {
    const { ofRouter, ofProviders } = judgeConfig(
      this.#document(upstreams),
      this.#environment(upstreams),
      this.#specs.check,
    )
    const all = ofProviders.size > 0 ? ofProviders : this.#judgeSize(upstreams)
    return { ofRouter, ofProviders: all }
  }

  *#surplus(upstreams: readonly UpstreamPlan[]): Steps<Judgement['ofProviders']> {
    const { router } = this.#input
    const all = routerDocument(router, this.#plan, router.spec.endpoints, this.#chainIdOf, [])
    const data = this.#dataForAll([])
    const base = renderConfig(all, this.#plan, data, this.#input.running.secretHashes)
    return yield* this.#sizes.surplus(upstreams, base, data)
  }

  /** Refuses one of them when they are too much together after all, and would not be without it or others. */
  #judgeSize(upstreams: readonly UpstreamPlan[]): Judgement['ofProviders'] {
    const [tooMuch] = this.#refusalsOfSize(upstreams)
    const [largest] = tooMuch === undefined ? [] : this.#sizes.inOrderOfGoing(upstreams)
    if (tooMuch === undefined || largest === undefined || this.#refusalsOfSize([]).length > 0)
      return new Map()
    return new Map([[largest.provider, [withIt(tooMuch)]]])
  }

  #refusalsOfSize(
    upstreams: readonly UpstreamPlan[],
    config = this.#config(upstreams),
  ): readonly ConfigRefusal[] {
    return refusalsOfSize(config, this.#dataForAll(upstreams))
  }

  #render(upstreams: readonly UpstreamPlan[]): RenderedConfig {
    const { secretHashes } = this.#input.running
    const data = this.#dataForAll(upstreams)
    return renderConfig(this.#document(upstreams), this.#plan, data, secretHashes)
  }

  #dataForAll(upstreams: readonly UpstreamPlan[]): ReferenceData {
    return this.#running.dataForAll([this.#plan, ...upstreams])
  }

  #environment(upstreams: readonly UpstreamPlan[]): Readonly<Record<string, string>> {
    const parts = [this.#plan, ...upstreams]
    return Object.assign(
      {},
      ...parts.map((part) => environmentOf(part, this.#running.dataFor(part))),
    ) as Record<string, string>
  }

  /** What pods run with and is gone, of providers without which an endpoint closes. */
  #closingWithout(upstreams: readonly UpstreamPlan[], lost: Lost): readonly Closing[] {
    const left = this.#serving.served(upstreams.filter(({ provider }) => !lost.has(provider)))
    const isAll = left.length === 0
    const closing = this.#serving.served(upstreams).filter((endpoint) => !left.includes(endpoint))
    return [...lost].flatMap(([provider, gone]) => {
      const endpoints = closing.filter((endpoint) =>
        this.#serving.of(endpoint, upstreams).some((plan) => plan.provider === provider),
      )
      return endpoints.length === 0 ? [] : gone.map((each) => ({ gone: each, endpoints, isAll }))
    })
  }

  /** What endpoints wait for that are closed for want of references alone. */
  #missing(
    unserved: readonly Endpoint[],
    chosen: readonly UpstreamPlan[],
    waiting: Settled['waiting'],
  ): readonly Dangling[] {
    const providers = new Set(
      unserved.flatMap((endpoint) =>
        this.#serving.of(endpoint, chosen).map(({ provider }) => provider),
      ),
    )
    return [...waiting].flatMap(([provider, dangling]) => (providers.has(provider) ? dangling : []))
  }
}

/** What is read at once takes one turn of the event loop: more is read one by one. */
const quickTexts = 65_536

function isQuicklyRead(upstreams: readonly UpstreamPlan[]): boolean {
  let left = quickTexts
  return upstreams.every((plan) => (left -= JSON.stringify(plan).length) > 0)
}

/** What pods run with and new ones would not find, and the endpoints that nothing else serves. */
interface Closing {
  readonly gone: Unmet
  readonly endpoints: readonly Endpoint[]
  /** There would be no other endpoint. */
  readonly isAll: boolean
}

function closingText({ gone, endpoints, isAll }: Closing): Unmet {
  const names = endpoints.map(({ name }) => name).join(', ')
  const outlook = isAll
    ? `no pod is replaced before that is mended, since nothing else serves ${names}`
    : `nothing else serves ${names}, which closes as soon as pods have to be replaced`
  return { ...gone, message: `${gone.message}; ${outlook}` }
}

function verdictOf(
  { plan, dangling }: Candidate,
  refusals: ReadonlyMap<string, readonly ProviderRefusal[]>,
  upstreams: readonly UpstreamPlan[],
  lost: Lost,
  data: ReferenceData,
): ProviderVerdict {
  const { provider } = plan
  const taken = upstreams.find((upstream) => upstream.provider === provider)
  const kept = lost.has(provider) ? 'kept-by-pods' : 'kept'
  const fate = taken === undefined ? 'left-out' : taken === plan ? 'used' : kept
  const used = [...plan.variables, ...plan.files].map(({ secret }) => secret)
  const secretHashes = hashSecrets(used, data, new Map())
  return { provider, fate, plan, secretHashes, refusals: refusals.get(provider) ?? [], dangling }
}
