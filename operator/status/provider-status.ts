// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { UpstreamProviderReason } from '../api/conditions.ts'
import type { UpstreamProviderStatus } from '../api/status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import {
  type ProviderFaults,
  type ProviderRefusal,
  violationText,
} from '../translate/translation.ts'
import { type ObservedCondition, providerFinding, sentences, settle } from './condition-set.ts'
import {
  healthIn,
  isUnusable,
  type Observations,
  overallHealth,
  type UpstreamIdentity,
} from './provider-health.ts'

/**
 * What becomes of a provider: `held` when its router was held back, and its pods go on with the
 * config that they have.
 */
type Usage = 'used' | 'blocked' | 'left-out'

/** What one router made of a provider. */
export interface RouterResult {
  readonly router: string
  readonly refusals: readonly ProviderRefusal[]
  readonly usage: Usage
  readonly observations: Observations
}

function isProgrammed({ usage }: RouterResult): boolean {
  return usage === 'used'
}

const usageTexts: Readonly<Record<Usage, string>> = {
  used: 'It was applied.',
  blocked: 'The router is blocked, see its conditions: its pods keep their current config.',
  'left-out': 'The pods do not use it.',
}

/**
 * The results. A router that was held back after it applied this generation counts as one that uses
 * it.
 */
function withApplied(
  results: readonly RouterResult[],
  status: UpstreamProviderStatus | undefined,
  generation: number,
): readonly RouterResult[] {
  return results.map((result) => {
    const before = status?.routers?.find(({ name }) => name === result.router)
    const isApplied = before?.conditions?.some(
      ({ type, status: is, observedGeneration }) =>
        type === 'Programmed' && is === 'True' && observedGeneration === generation,
    )
    return result.usage === 'blocked' && isApplied ? { ...result, usage: 'used' } : result
  })
}

/** All inputs of the status of a provider. */
export interface ProviderObservation extends ProviderFaults {
  readonly provider: UpstreamProvider
  readonly upstream: UpstreamIdentity
  /** Effects that its owner may not expect. */
  readonly notes?: readonly string[]
  readonly routers: readonly RouterResult[]
  /** RFC 3339. */
  readonly now: string
}

/** The status of a provider. */
export function providerStatus(observed: ProviderObservation): UpstreamProviderStatus {
  const { provider, upstream, now } = observed
  const { metadata, spec, status } = provider
  const { generation } = metadata
  const routers = withApplied(observed.routers, status, generation)
  const observation = { ...observed, routers }
  const accepted = acceptance(observation)
  const resolved = resolution(observation)
  const statuses = routerStatuses(routers, status, generation, now, upstream)
  const health = overallHealth(statuses)
  return {
    observedGeneration: generation,
    conditions: settle(
      [accepted, resolved, readiness(accepted, resolved, health, observation), health],
      status?.conditions,
      generation,
      now,
    ),
    routers: statuses,
    summary: { routers: programmedOf(routers), urls: spec.nodeUrls.length },
  }
}

/**
 * Whether pods are ready with it is not in this status: each change of a pod would write every
 * provider.
 */
const readyText =
  'At least one RpcRouter uses it. The condition Ready of the router says whether pods serve, and Healthy whether the node works.'

/** `1/2`: routers that run with a provider as it is written, of those that select it. */
export function programmedOf(routers: readonly RouterResult[]): string {
  return `${routers.filter(isProgrammed).length}/${routers.length}`
}

/**
 * What each router says of a provider.
 *
 * @param upstream null of a provider that cannot be read: its health stays as it is
 */
export function routerStatuses(
  routers: readonly RouterResult[],
  status: UpstreamProviderStatus | undefined,
  generation: number,
  now: string,
  upstream: UpstreamIdentity | null,
) {
  return routers
    .toSorted((a, b) => (a.router < b.router ? -1 : 1))
    .slice(0, maxRouters)
    .map((result) => {
      const before = status?.routers?.find(({ name }) => name === result.router)?.conditions
      const known = before?.find(({ type }) => type === 'Healthy')
      const health = upstream === null ? known : healthIn(result.observations, upstream, known)
      const findings = [...routerFindings(result), ...(health ? [health] : [])]
      return { name: result.router, conditions: settle(findings, before, generation, now) }
    })
}

/** As many as the status can hold. */
const maxRouters = 256

function acceptance({ refusals, routers, notes }: ProviderObservation): ObservedCondition {
  const isServed = routers.some((result) => !result.refusals.some(isElsewhere))
  const all = [...refusals, ...routers.flatMap((result) => result.refusals)]
  const own = all.filter((refusal) => !isElsewhere(refusal))
  // One router may have no endpoint for it while another has.
  const counted = isServed ? own : [...own, ...asOne(all.filter(isElsewhere))]
  return refusalFinding(counted, notes)
}

/** A refusal by a router that it was probably not meant for. */
function isElsewhere({ reason }: ProviderRefusal): boolean {
  return reason === 'ChainNotServed'
}

/** The same refusal of many routers is one sentence. */
function asOne([first, ...others]: readonly ProviderRefusal[]): readonly ProviderRefusal[] {
  if (first === undefined) return []
  if (others.length === 0) return [first]
  const message = `${first.message}; nor do the other RpcRouters that select it (${others.length})`
  return [{ ...first, message }]
}

function refusalFinding(
  refusals: readonly ProviderRefusal[],
  notes: readonly string[] = [],
): ObservedCondition {
  const [first] = refusals
  if (first === undefined)
    return providerFinding('Accepted', 'Accepted', sentences(['It is valid', ...notes]))
  const message = sentences(refusals.map(violationText))
  return providerFinding('Accepted', first.reason, message)
}

function resolution({ unresolvedRefs }: ProviderObservation): ObservedCondition {
  const [first] = unresolvedRefs
  if (first === undefined)
    return providerFinding('ResolvedRefs', 'ResolvedRefs', 'All references are resolved.')
  return providerFinding('ResolvedRefs', first.reason, sentences(unresolvedRefs.map(violationText)))
}

function routerFindings({ refusals, usage }: RouterResult): readonly ObservedCondition[] {
  return [
    refusalFinding(refusals),
    usage === 'used'
      ? providerFinding('Programmed', 'Programmed', usageTexts[usage])
      : providerFinding('Programmed', 'NotProgrammed', usageTexts[usage]),
  ]
}

function readiness(
  accepted: ObservedCondition,
  resolved: ObservedCondition,
  health: ObservedCondition,
  { provider, routers }: ProviderObservation,
): ObservedCondition {
  const found = (reason: UpstreamProviderReason<'Ready'>, message: string) =>
    providerFinding('Ready', reason, message)
  const because = ({ type, status, message }: ObservedCondition) =>
    `${type} is ${status}: ${message}`
  if (routers.length === 0) {
    const { namespace } = provider.metadata
    return found('NotSelected', `No RpcRouter of its namespace ${namespace} selects it.`)
  }
  if (accepted.status !== 'True') return found('NotAccepted', because(accepted))
  if (resolved.status !== 'True') return found('RefsNotResolved', because(resolved))
  if (!routers.some(isProgrammed))
    return found('NotProgrammed', 'No router that selects it has applied it.')
  return isUnusable(health) ? found('NotHealthy', because(health)) : found('Ready', readyText)
}
