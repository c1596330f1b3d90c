// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import { type ListenerWithoutSocket, socketText } from '../../proxy/config/socket-check.ts'
import { type JudgedSpecs, judgeSpecs, usesBundledSpecsAlone } from './spec-sources.ts'
import { type ReferenceData, environmentOf } from './reference-data.ts'
import { type Judgement, judgeConfig, refusalsOfTls } from './judge-config.ts'
import { notesOfRouter } from './notes.ts'
import { renderConfig } from './rendered-config.ts'
import {
  type RouterDocument,
  type RouterPlan,
  type UpstreamPlan,
  planRouter,
  routerDocument,
} from './router-document.ts'
import { refusalsOfSpec, unservedEndpoints } from './router-refusals.ts'
import { type Listener, listenersOf, openListeners, upstreamsOf } from './serving.ts'
import { chooseState } from './state-store.ts'
import type { TranslateInput, Translation } from './translation.ts'
import { type Candidate, chainNames, planUpstreams } from './upstreams.ts'
import type { Dangling, ProviderRefusal, RouterRefusal } from './violation.ts'

/**
 * Translates a router and its providers into the config of the pods. Pure; judged by the router's own parser.
 *
 * A provider that is refused, or lacks a Secret or ConfigMap, is left out. Where that would close an endpoint which the
 * pods serve, there is no config: the last good one keeps running.
 */
export function translate(input: TranslateInput): Translation {
  const { router, data, chains, running } = input
  const { spec, metadata } = router
  // What names a spec of one's own gives to which chain only the router knows.
  const chainIdOf = chainNames(usesBundledSpecsAlone(spec.specSources) ? chains : null)
  const listeners = listenersOf(spec.endpoints, chainIdOf)
  const state = chooseState(spec)
  const plan = planRouter(router, state, data, chainIdOf)
  const specs = judgeSpecs(spec.specSources, plan.specs, chains)
  const write: Judging['write'] = (opened, upstreams, skipsSockets = true) =>
    routerDocument(
      router,
      plan,
      opened.map(({ endpoint }) => endpoint),
      chainIdOf,
      upstreams,
      skipsSockets,
    )

  const judging = { plan, data, specs, write }
  const planned = planUpstreams(metadata.name, listeners, chainIdOf, input)
  const candidates = judgeCandidates(planned, listeners, judging)
  const accepted = candidates.filter(({ refusals }) => refusals.length === 0)
  const complete = accepted.filter(({ dangling }) => dangling.length === 0)

  const opened = openListeners(listeners, plansOf(complete))
  const upstreams = plansOf(complete).filter((each) => isServedBy(opened, each))
  const { ofRouter, withoutSocket } = judgeWhole(opened, upstreams, judging)
  const closed = listeners.filter((listener) => !opened.includes(listener))
  const closing = closed.filter(
    (listener) =>
      running.openPorts.includes(listener.endpoint.port) && isBroken(listener, candidates),
  )
  const blocking = [
    ...refusalsOfSpec(spec),
    ...state.refusals,
    ...specs.refusals,
    ...ofRouter,
    ...(spec.skipWebsocketVerification === false ? withoutSocket.flatMap(refusalOfSocket) : []),
  ]
  const skipsSockets = spec.skipWebsocketVerification ?? withoutSocket.length > 0
  const unserved = unservedEndpoints(router, closed, plansOf(accepted), candidates, specs.check)
  const isBlocked =
    blocking.length > 0 || plan.dangling.length > 0 || closing.length > 0 || upstreams.length === 0
  return {
    config: isBlocked ? null : renderConfig(write(opened, upstreams, skipsSockets), plan, data),
    refusals: [...blocking, ...unserved.map((refusal) => withHold(refusal, closing))],
    dangling: [...plan.dangling, ...missingFor(closed, accepted, closing)],
    notes: isBlocked ? [] : notesOfRouter(spec, upstreams, withoutSocket),
    providers: candidates.map(({ plan: { provider }, refusals, dangling }) => ({
      provider,
      isUsed: upstreams.some((upstream) => upstream.provider === provider),
      refusals,
      dangling,
    })),
    endpoints: listeners.map((listener) => ({
      endpoint: listener.endpoint,
      upstreams: upstreamsOf(listener, upstreams).length,
      served: opened.includes(listener),
    })),
    state,
  }
}

function plansOf(candidates: readonly Candidate[]): readonly UpstreamPlan[] {
  return candidates.map(({ plan }) => plan)
}

function isServedBy(listeners: readonly Listener[], { serves }: UpstreamPlan): boolean {
  return listeners.some((listener) => listener.serves === serves)
}

/** What a config is judged with. */
interface Judging {
  readonly plan: RouterPlan
  readonly data: ReferenceData
  readonly specs: JudgedSpecs
  readonly write: (
    listeners: readonly Listener[],
    upstreams: readonly UpstreamPlan[],
    skipsSockets?: boolean,
  ) => RouterDocument
}

/** The candidates with what the router's own parser says of each; those of the tier backup are read as primaries. */
function judgeCandidates(
  candidates: readonly Candidate[],
  listeners: readonly Listener[],
  { plan, data, specs, write }: Judging,
): readonly Candidate[] {
  const refused = new Map<string, readonly ProviderRefusal[]>()
  for (;;) {
    const upstreams = candidates
      .filter(({ refusals, plan: { provider } }) => refusals.length === 0 && !refused.has(provider))
      .map((each): UpstreamPlan => ({ ...each.plan, tier: 'primary' }))
    if (upstreams.length === 0) break
    const document = write(openListeners(listeners, upstreams), upstreams)
    const { ofProviders } = judgeConfig(document, environmentOf([plan, ...upstreams], data), specs)
    for (const upstream of upstreams) {
      const refusals = [
        ...(ofProviders.get(upstream.provider) ?? []),
        ...refusalsOfTls(upstream, data),
      ]
      if (refusals.length > 0) refused.set(upstream.provider, refusals)
    }
    // What is left is read again: one mistake can hide another.
    if (upstreams.every(({ provider }) => !refused.has(provider))) break
  }
  return candidates.map((candidate) => ({
    ...candidate,
    refusals: refused.get(candidate.plan.provider) ?? candidate.refusals,
  }))
}

/** What the parser says of the config that pods would get; of an upstream it has nothing more to say. */
function judgeWhole(
  opened: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
  { plan, data, specs, write }: Judging,
): Pick<Judgement, 'ofRouter' | 'withoutSocket'> {
  if (upstreams.length === 0) return { ofRouter: [], withoutSocket: [] }
  const environment = environmentOf([plan, ...upstreams], data)
  const { ofRouter, ofProviders, withoutSocket } = judgeConfig(
    write(opened, upstreams),
    environment,
    specs,
  )
  const others = [...ofProviders].flatMap(([provider, refusals]) =>
    refusals.map(({ field, message }) => ({
      reason: 'InvalidConfig' as const,
      field: '',
      message: `UpstreamProvider ${provider}: ${field}: ${message}`,
    })),
  )
  return { ofRouter: [...ofRouter, ...others], withoutSocket }
}

function refusalOfSocket(listener: ListenerWithoutSocket): readonly RouterRefusal[] {
  if (!listener.isCertain) return []
  const message = `${listener.serves} has subscriptions, and ${socketText(listener)}: add one, or unset it to serve without subscriptions`
  return [{ reason: 'InvalidConfig', field: 'spec.skipWebsocketVerification', message }]
}

/** Whether one of the providers that should serve a listener cannot; what an unreadable one serves is not known. */
function isBroken(listener: Listener, candidates: readonly Candidate[]): boolean {
  return candidates.some(
    ({ plan: { serves }, refusals, dangling }) =>
      (serves === listener.serves || serves === '') && refusals.length + dangling.length > 0,
  )
}

function withHold(refusal: RouterRefusal, closing: readonly Listener[]): RouterRefusal {
  const isHeld = closing.some(({ endpoint }) => refusal.field.startsWith(fieldOf(endpoint)))
  return isHeld ? { ...refusal, message: `${refusal.message}; ${holdText}` } : refusal
}

const holdText = 'nothing is changed as long as this would close it'

function fieldOf({ name }: Endpoint): string {
  return `spec.endpoints[${name}]`
}

/** What closed endpoints wait for: references of providers that are otherwise good. */
function missingFor(
  closed: readonly Listener[],
  accepted: readonly Candidate[],
  closing: readonly Listener[],
): readonly Dangling[] {
  return accepted.flatMap(({ plan: { provider, serves }, dangling }) => {
    const waiting = closed.filter((listener) => listener.serves === serves)
    if (waiting.length === 0) return []
    const held = waiting.filter((listener) => closing.includes(listener))
    const names = held.map(({ endpoint }) => endpoint.name).join(', ')
    const hold = names === '' ? '' : `; nothing is changed as long as this would close ${names}`
    return dangling.map(({ reason, field, message }) => ({
      reason,
      field: '',
      message: `UpstreamProvider ${provider}: ${field}: ${message}${hold}`,
    }))
  })
}
