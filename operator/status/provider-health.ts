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

/** The last two observations of a router's pods, or one, oldest first; null if not observed. */
export type Observations = readonly FleetView[] | null

type Reason = UpstreamProviderReason<'Healthy'>

/** Reason and text by upstream state. The router's own reason replaces the last clause. */
const reasons: ReadonlyMap<string, readonly [reason: Reason, text: string]> = new Map([
  ['eligible', ['Serving', 'Its node answers, and calls go to it']],
  ['lagging', ['Lagging', 'It is behind the chain: calls about the newest blocks go elsewhere']],
  [
    'cooldown',
    ['InCooldown', 'All of its URLs are in cooldown: the node limits the rate or is unavailable'],
  ],
  ['disabled', ['Disabled', 'Too many consecutive failures: calls go elsewhere until it answers']],
  ['rejected', ['Rejected', 'None of its URLs passes verification: the pods give no reason']],
  ['unverified', ['Unverified', 'None of its URLs has been verified yet: the pods give no reason']],
])

/** Reasons that mean that a provider cannot serve calls. */
const unusable: readonly Reason[] = ['Disabled', 'Rejected', 'Unverified']

/** Whether no observed pod can use the provider. */
export function isUnusable({ reason }: { readonly reason: string | undefined }): boolean {
  return unusable.some((each) => each === reason)
}

/** Identifies a provider's upstream in a router. */
export interface UpstreamIdentity extends Pick<UpstreamView, 'chain' | 'interface' | 'name'> {}

export function upstreamOf(provider: UpstreamProvider, chainIdOf: ChainIdOf): UpstreamIdentity {
  const { chainId, apiInterface } = provider.spec
  return { chain: chainIdOf(chainId), interface: apiInterface, name: upstreamNameOf(provider) }
}

/**
 * Returns the health of a provider in one router's pods. It changes only when two observations
 * agree, so that transient states cause no writes.
 * @returns `before` itself if nothing changed
 */
export function healthIn(
  observations: Observations,
  upstream: UpstreamIdentity,
  before: ObservedCondition | undefined,
): ObservedCondition {
  const [older, newer] = (observations ?? []).map((view) => resultIn(view, upstream))
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
  // The times change with each replaced pod, so the message stays as long as the reason and its
  // words do, and while the words differ from one observation to the next.
  const [wasWords, olderWords, newerWords] = [before, older?.finding, newer?.finding].map(wordsOf)
  const isUnchanged = wasWords === newerWords || olderWords !== newerWords
  return isSame || (before?.reason === newer?.key && isUnchanged) ? (before ?? found) : found
}

function wordsOf(condition: Pick<ObservedCondition, 'message'> | undefined): string | undefined {
  return condition?.message.replace(/ Since \S+$/, '')
}

function unobserved(why: string): ObservedCondition {
  return providerFinding('Healthy', 'NotObserved', sentences([`Unknown: ${why}`]))
}

/** Returns the result of one observation. Results with the same key agree. */
function resultIn({ pods, silent: [silent] }: FleetView, upstream: UpstreamIdentity) {
  // States of newer routers are unknown, and do not count.
  const known = pods
    .flatMap(({ upstreams }) => findIn(upstreams, upstream) ?? [])
    .filter(({ state }) => reasons.has(state))
  const [first, ...others] = Map.groupBy(known, ({ state }) => reasons.get(state))
  if (first?.[0] === undefined) {
    const silence = silent
      ? `no pod answers at :${metricsPort}${statusPath}: ${silent.problem}`
      : 'no pod runs'
    const finding = unobserved(pods.length > 0 ? 'no pod has this upstream in its config' : silence)
    return { key: finding.message, finding }
  }
  if (others.length > 0) {
    const counts = [first, ...others].map(([row, { length }]) => `${row?.[0]} in ${length}`)
    const message = `Of ${known.length} pods, it is ${counts.toSorted().join(', ')}.`
    const reason = commonReason([first, ...others].map(([row]) => row?.[0]))
    return { key: message, finding: providerFinding('Healthy', reason, message) }
  }
  const [[reason, text], views] = first
  const sorted = views.toSorted((a, b) => (a.since < b.since ? -1 : 1))
  const since = sorted[0]?.since.replace(/\.\d+/, '')
  const why = sorted.map((view) => view.why).find(Boolean)
  const found = why ? text.replace(/: .*/, () => `: ${why}`) : text
  return { key: reason, finding: providerFinding('Healthy', reason, `${found}. Since ${since}.`) }
}

/** Finds an upstream. The chain only breaks ties, because a router may use a different alias. */
function findIn(
  upstreams: readonly UpstreamView[],
  { chain, interface: iface, name }: UpstreamIdentity,
): UpstreamView | undefined {
  const named = upstreams.filter((each) => each.name === name && each.interface === iface)
  return named.length === 1 ? named[0] : named.find((each) => each.chain === chain)
}

/** Combines the health of a provider in all routers that select it, ignoring unknown results. */
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
  const each = known.map(({ name, health }) => `${name}: ${health.reason}`)
  const common = commonReason(known.map(({ health }) => health.reason))
  return providerFinding('Healthy', common, `The routers differ: ${each.join(', ')}.`)
}

/** Finds one reason for observations that differ: no pod can use the provider, or some can. */
function commonReason(differing: readonly (string | undefined)[]): Reason {
  const isUseless = differing.every((reason) => isUnusable({ reason }))
  return (isUseless && unusable.find((each) => differing.includes(each))) || 'PodsDiffer'
}
