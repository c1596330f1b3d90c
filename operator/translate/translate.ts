// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import { type ListenerWithoutSocket, socketText } from '../../proxy/config/checks/socket-check.ts'
import { apiVersion } from '../api/group.ts'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { type ValidationResult, validateConfig } from './validate-config.ts'
import type { ReferenceData } from './reference-data.ts'
import { refusalOfSize, renderConfig } from './rendered-config.ts'
import {
  type Listener,
  type RouterPlan,
  type UpstreamPlan,
  planRouter,
  routerDocument,
} from './router-document.ts'
import { notesOfRouter, notesOfProvider, unservedEndpoint } from './router-refusals.ts'
import { type Translation, type ProviderFaults } from './translation.ts'
import { type Candidate, planUpstreams, upstreamEntry } from './upstreams.ts'
import { ValueCollector } from './value-collector.ts'
import {
  type UnresolvedRef,
  type ProviderRefusal,
  type RouterRefusal,
  type Violation,
} from './violations.ts'
import { type TranslateInput } from './translate-input.ts'

/**
 * Translates a router and its providers into the config of the pods. It is pure, and the router's
 * own parser validates the result.
 *
 * It excludes a provider that is refused, or that lacks a Secret or ConfigMap. If that would close
 * an endpoint of the pods, there is no config, and the last good one stays in use.
 */
export function translate(input: TranslateInput): Translation {
  const { router, data, bundled, openPorts = [], allowLinkLocal = false } = input
  const { spec } = router
  const plan = planRouter(router, data, bundled, allowLinkLocal)
  const listeners = listenersOf(spec.endpoints, plan)
  const planned = planUpstreams(listeners, plan.chainIdOf, input)
  const candidates = validateCandidates(planned, listeners, plan, data)
  const accepted = candidates.filter(({ refusals }) => refusals.length === 0)
  const complete = accepted.filter(({ unresolvedRefs }) => unresolvedRefs.length === 0).map(planOf)

  const opened = openListeners(listeners, complete)
  const upstreams = complete.filter((each) => opened.some((listener) => serves(each, listener)))
  const { ofRouter, withoutSocket } = validateWhole(opened, upstreams, plan, data)
  const needsSockets = spec.skipWebsocketVerification === false
  const blocking = [
    ...plan.specs.refusals,
    ...ofRouter,
    ...(needsSockets ? withoutSocket.flatMap(refusalOfSocket) : []),
  ]

  const closed = listeners
    .filter((listener) => !opened.includes(listener))
    .map((listener) => ({ listener, wouldClose: wouldClose(listener, candidates, openPorts) }))
  const unserved = closed
    .filter(({ listener }) => openListeners([listener], accepted.map(planOf)).length === 0)
    .map(({ listener, wouldClose }) => {
      const refusal = unservedEndpoint(router, listener, candidates.map(planOf), plan.specs)
      return wouldClose ? { ...refusal, message: `${refusal.message}; ${blockedText} it` } : refusal
    })
  const isBlocked =
    blocking.length + plan.unresolvedRefs.length > 0 ||
    closed.some(({ wouldClose }) => wouldClose) ||
    upstreams.length === 0
  const skipsSockets = spec.skipWebsocketVerification ?? withoutSocket.length > 0
  const document = routerDocument(plan, opened, upstreams, skipsSockets)
  const config = isBlocked ? null : renderConfig(document, plan, input)
  const oversize = config === null ? [] : refusalOfSize(config)
  return {
    config: oversize.length > 0 ? null : config,
    refusals: [...blocking, ...unserved, ...oversize],
    unresolvedRefs: [
      ...plan.unresolvedRefs,
      ...accepted.flatMap((each) => waitingFor(each, closed)),
    ],
    notes: isBlocked ? [] : notesOfRouter(spec, upstreams, withoutSocket),
    providers: candidates.map(({ plan: upstream, refusals, unresolvedRefs }) => ({
      provider: upstream.provider,
      isUsed: upstreams.includes(upstream),
      refusals,
      unresolvedRefs,
    })),
    endpoints: listeners.map((listener) => ({
      endpoint: listener.endpoint,
      serves: listener.serves,
      upstreams: upstreams.filter((upstream) => serves(upstream, listener)).length,
      served: opened.includes(listener),
    })),
  }
}

function planOf({ plan }: Candidate): UpstreamPlan {
  return plan
}

function listenersOf(
  endpoints: TranslateInput['router']['spec']['endpoints'],
  { chainIdOf }: RouterPlan,
): readonly Listener[] {
  return endpoints.map((endpoint) => {
    const chainId = chainIdOf(endpoint.chainId)
    return { endpoint, chainId, serves: `${chainId} ${endpoint.apiInterface}` }
  })
}

function serves(upstream: UpstreamPlan, listener: Listener): boolean {
  return upstream.serves === listener.serves
}

/** Returns the listeners that can open; each needs a primary upstream. */
function openListeners(
  listeners: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
): readonly Listener[] {
  const primaries = upstreams.filter(({ tier }) => tier === 'primary')
  return listeners.filter((listener) => primaries.some((upstream) => serves(upstream, listener)))
}

/** Adds the parser's refusals to the candidates. It validates backups as if they were primaries. */
function validateCandidates(
  candidates: readonly Candidate[],
  listeners: readonly Listener[],
  plan: RouterPlan,
  data: ReferenceData,
): readonly Candidate[] {
  const refused = new Map<string, readonly ProviderRefusal[]>()
  for (;;) {
    const upstreams = candidates
      .filter(({ refusals, plan: { provider } }) => refusals.length === 0 && !refused.has(provider))
      .map((each): UpstreamPlan => ({ ...each.plan, tier: 'primary' }))
    if (upstreams.length === 0) break
    const opened = openListeners(listeners, upstreams)
    const { ofProviders } = validateConfig(opened, upstreams, plan, data)
    for (const [provider, refusals] of ofProviders) refused.set(provider, refusals)
    // Validate the rest again, because one fault can hide another.
    if (ofProviders.size === 0) break
  }
  return candidates.map((candidate) => ({
    ...candidate,
    refusals: refused.get(candidate.plan.provider) ?? candidate.refusals,
  }))
}

/** Validates the complete config of the pods. Its upstreams are already validated. */
function validateWhole(
  opened: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
  plan: RouterPlan,
  data: ReferenceData,
): Pick<ValidationResult, 'ofRouter' | 'withoutSocket'> {
  if (upstreams.length === 0) return { ofRouter: [], withoutSocket: [] }
  const { ofRouter, ofProviders, withoutSocket } = validateConfig(opened, upstreams, plan, data)
  const others = [...ofProviders].flatMap(([provider, refusals]) =>
    refusals.map((refusal) => ofProvider(provider, refusal)),
  )
  return { ofRouter: [...ofRouter, ...others], withoutSocket }
}

/** Converts a provider's violation to one of the router. */
function ofProvider<R extends string>(
  provider: string,
  { reason, field, message }: Violation<R>,
): Violation<R> {
  return { reason, field: '', message: `UpstreamProvider ${provider}: ${field}: ${message}` }
}

function refusalOfSocket(listener: ListenerWithoutSocket): readonly RouterRefusal[] {
  if (!listener.isCertain) return []
  const message = `${listener.serves} has subscriptions, and ${socketText(listener)}: add one, or unset it to serve without subscriptions`
  return [{ reason: 'InvalidConfig', field: 'spec.skipWebsocketVerification', message }]
}

/**
 * Whether a listener of the pods would close because one of its providers is unusable. An
 * unreadable provider may serve any listener.
 */
function wouldClose(
  { endpoint, serves }: Listener,
  candidates: readonly Candidate[],
  openPorts: readonly number[],
): boolean {
  const isBroken = candidates.some(
    ({ plan, refusals, unresolvedRefs }) =>
      (plan.serves === serves || plan.serves === '') && refusals.length + unresolvedRefs.length > 0,
  )
  return isBroken && openPorts.includes(endpoint.port)
}

const blockedText = 'no change is applied while it would close'

/** Returns the unresolved references of a valid provider for which closed endpoints wait. */
function waitingFor(
  { plan, unresolvedRefs }: Candidate,
  closed: readonly { readonly listener: Listener; readonly wouldClose: boolean }[],
): readonly UnresolvedRef[] {
  const waiting = closed.filter(({ listener }) => serves(plan, listener))
  if (waiting.length === 0) return []
  const blocked = waiting.filter((each) => each.wouldClose)
  const names = blocked.map(({ listener }) => listener.endpoint.name).join(', ')
  const suffix = names === '' ? '' : `; ${blockedText} ${names}`
  return unresolvedRefs
    .map((each) => ofProvider(plan.provider, each))
    .map((each) => ({ ...each, message: each.message + suffix }))
}

/** Validation result of a provider, independent of routers. */
export interface ProviderValidation extends ProviderFaults {
  /** Effects that the owner may not expect. */
  readonly notes: readonly string[]
}

/**
 * Validates a provider by itself.
 * @param bundled to validate a provider that no router selects against its chain; null if routers
 * validate it
 */
export function validateProvider(
  provider: UpstreamProvider,
  data: ReferenceData,
  bundled: BundledSpecs | null,
  allowLinkLocal: boolean,
): ProviderValidation {
  const collector = new ValueCollector(data, provider)
  const { refusals } = upstreamEntry(provider, provider.spec.chainId, collector)
  const { unresolvedRefs } = collector
  const notes = notesOfProvider(provider)
  if (bundled === null || refusals.length > 0) return { refusals, unresolvedRefs, notes }
  const { chainId, apiInterface } = provider.spec
  const router = rpcRouterSchema.parse({
    apiVersion,
    kind: 'RpcRouter',
    metadata: { name: 'any', namespace: provider.metadata.namespace },
    spec: { endpoints: [{ name: 'any', chainId, apiInterface }], providerSelector: {} },
  })
  const primary = { ...provider, spec: { ...provider.spec, tier: 'primary' as const } }
  const { providers } = translate({
    router,
    providers: [primary],
    data,
    bundled,
    allowLinkLocal,
  })
  return { refusals: providers[0]?.refusals ?? [], unresolvedRefs, notes }
}
