// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { UpstreamProviderReason } from '../api/conditions.ts'
import type { UpstreamProviderStatus } from '../api/status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { metricsPort } from '../translate/object-names.ts'
import type { ChainIdOf } from '../translate/router-document.ts'
import { upstreamNameOf } from '../translate/upstreams.ts'
import { type ObservedCondition, providerFinding, sentences } from './condition-set.ts'
import { type FleetView, statusPath, type UpstreamView } from './fleet-view.ts'

/**
 * The last two looks at the pods of a router, the older one first; fewer at the start; null: the
 * operator does not look.
 */
export type Observations = readonly FleetView[] | null

type Reason = UpstreamProviderReason<'Healthy'>

/**
 * By the states that upstreams have in a router: the reason, and what it means. The router's own
 * reason replaces what follows the colon.
 */
const reasons: ReadonlyMap<string, readonly [reason: Reason, text: string]> = new Map([
  ['eligible', ['Serving', 'Its node answers, and calls go to it']],
  ['lagging', ['Lagging', 'It is behind the chain: calls about the newest blocks go elsewhere']],
  [
    'held-off',
    ['HeldOff', 'All of its URLs are in cooldown: the node limits the rate or is unavailable'],
  ],
  ['disabled', ['Disabled', 'Too many consecutive failures: calls go elsewhere until it answers']],
  ['rejected', ['Rejected', 'None of its URLs passes verification: see the log of a pod']],
  [
    'unverified',
    ['Unverified', 'None of its URLs has been verified yet: it is probably unreachable'],
  ],
])

/** With these no call can be answered, now and for the time being. */
const unusable: readonly string[] = ['Disabled', 'Rejected', 'Unverified'] satisfies Reason[]

/** Whether no pod that was asked can use the provider. */
export function isUnusable({ reason }: ObservedCondition): boolean {
  return unusable.includes(reason)
}

/** How a router names the upstream that a provider becomes. */
export interface UpstreamIdentity extends Pick<UpstreamView, 'chain' | 'interface' | 'name'> {}

export function upstreamOf(provider: UpstreamProvider, chainIdOf: ChainIdOf): UpstreamIdentity {
  const { chainId, apiInterface } = provider.spec
  return { chain: chainIdOf(chainId), interface: apiInterface, name: upstreamNameOf(provider) }
}

/**
 * The health of a provider in the pods of one router. It changes when two looks agree, so that what
 * passes in a moment is no write; until then, `before` holds.
 *
 * @returns `before` itself when nothing has changed
 */
export function healthIn(
  observations: Observations,
  upstream: UpstreamIdentity,
  before: ObservedCondition | undefined,
): ObservedCondition {
  const [older, newer] = (observations ?? []).map((look) => verdict(look, upstream))
  const isSettled = older !== undefined && newer !== undefined && older.key === newer.key
  if (observations !== null && !isSettled && before !== undefined) return before
  const found = isSettled
    ? newer.finding
    : unobserved(
        observations === null
          ? 'the operator does not observe pods'
          : 'the first check is still running',
      )
  const isSame = before?.reason === found.reason && before.message === found.message
  // Of one reason the times differ with each pod that is replaced: the first one stays.
  return isSame || before?.reason === newer?.key ? (before ?? found) : found
}

function unobserved(why: string): ObservedCondition {
  return providerFinding('Healthy', 'NotObserved', sentences([`Unknown: ${why}`]))
}

/**
 * What one look shows. Observations agree when they have the same key: the reason, or the message
 * where the reason is not all.
 */
function verdict({ pods, silent: [silent] }: FleetView, upstream: UpstreamIdentity) {
  // A state that only later routers know does not count.
  const seen = pods
    .flatMap(({ upstreams }) => findIn(upstreams, upstream) ?? [])
    .filter(({ state }) => reasons.has(state))
  const [first, ...others] = Map.groupBy(seen, ({ state }) => reasons.get(state))
  if (first?.[0] === undefined) {
    const silence = silent
      ? `no pod answers at :${metricsPort}${statusPath}: ${silent.problem}`
      : 'no pod runs'
    const finding = unobserved(pods.length > 0 ? 'no pod has this upstream in its config' : silence)
    return { key: finding.message, finding }
  }
  if (others.length > 0) {
    const counts = [first, ...others].map(([known, { length }]) => `${known?.[0]} in ${length}`)
    const message = `Of ${seen.length} pods, it is ${counts.toSorted().join(', ')}.`
    return { key: message, finding: providerFinding('Healthy', 'PodsDiffer', message) }
  }
  const [[reason, text], views] = first
  const sorted = views.toSorted((a, b) => (a.since < b.since ? -1 : 1))
  const since = sorted[0]?.since.replace(/\.\d+/, '')
  const why = sorted.map((view) => view.why).find(Boolean)
  const found = why ? text.replace(/: .*/, () => `: ${why}`) : text
  return { key: reason, finding: providerFinding('Healthy', reason, `${found}. Since ${since}.`) }
}

/**
 * A chain of the router's own may be known there by another name: then the rest has to be enough.
 */
function findIn(
  upstreams: readonly UpstreamView[],
  { chain, interface: iface, name }: UpstreamIdentity,
): UpstreamView | undefined {
  const named = upstreams.filter((each) => each.name === name && each.interface === iface)
  return named.length === 1 ? named[0] : named.find((each) => each.chain === chain)
}

/**
 * The health of a provider over all routers that select it. Routers of which nothing is known do
 * not count.
 */
export function overallHealth(
  routers: NonNullable<UpstreamProviderStatus['routers']>,
): ObservedCondition {
  const all = routers.flatMap(({ name, conditions = [] }) => {
    const health = conditions.find(({ type }) => type === 'Healthy')
    return health === undefined ? [] : [{ name, health }]
  })
  const known = all.filter(({ health }) => health.status !== 'Unknown')
  const [first] = known.length > 0 ? known : all
  if (first === undefined) return unobserved('no RpcRouter selects it')
  const { reason, message } = first.health
  if (known.every(({ health }) => health.reason === reason))
    return providerFinding('Healthy', reason as Reason, message)
  const reasons = known.map(({ name, health }) => `${name}: ${health.reason}`)
  return providerFinding('Healthy', 'PodsDiffer', `The routers differ: ${reasons.join(', ')}.`)
}
