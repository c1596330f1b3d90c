// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { UpstreamProviderReason } from '../api/conditions.ts'
import type { UpstreamProviderStatus } from '../api/status.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { type ProviderFaults, violationText } from '../translate/translation.ts'
import { type ObservedCondition, providerFinding, sentences, settle } from './condition-set.ts'
import {
  healthIn,
  isUnusable,
  type Observations,
  overallHealth,
  type UpstreamIdentity,
} from './provider-health.ts'
import { type ProviderRefusal } from '../translate/violations.ts'

/** How a router uses a provider. `blocked`: its pods stay on their current config. */
type Usage = 'used' | 'blocked' | 'excluded'

/** A router's result for a provider. */
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
  excluded: 'The pods do not use it.',
}

/** Treats a blocked router that already applied this generation as using it. */
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

/** All inputs of a provider's status. */
export interface ProviderObservation extends ProviderFaults {
  readonly provider: UpstreamProvider
  readonly upstream: UpstreamIdentity
  /** Effects that the owner may not expect. */
  readonly notes?: readonly string[]
  readonly routers: readonly RouterResult[]
  /** RFC 3339. */
  readonly now: string
}

/** Returns the status of a provider. */
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

/** Omits the readiness of pods, because each change of a pod would write every provider. */
const readyText =
  'At least one RpcRouter uses it. The condition Ready of the router says whether pods serve, and Healthy whether the node works.'

/** `1/2`: routers that use this generation of a provider, out of those that select it. */
export function programmedOf(routers: readonly RouterResult[]): string {
  return `${routers.filter(isProgrammed).length}/${routers.length}`
}

/**
 * Returns a provider's status for each router.
 * @param upstream null for an unreadable provider, whose health is unchanged
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

/** Maximum number of routers in the status. */
const maxRouters = 256

function acceptance({ refusals, routers, notes }: ProviderObservation): ObservedCondition {
  const isServed = routers.some((result) => !result.refusals.some(isElsewhere))
  const all = [...refusals, ...routers.flatMap((result) => result.refusals)]
  const own = all.filter((refusal) => !isElsewhere(refusal))
  // If one router serves its chain, routers of other chains do not count.
  const counted = isServed ? own : [...own, ...asOne(all.filter(isElsewhere))]
  return refusalFinding(counted, notes)
}

/** Whether the router serves other chains, so that the provider is probably for another router. */
function isElsewhere({ reason }: ProviderRefusal): boolean {
  return reason === 'ChainNotServed'
}

/** Merges the same refusal by many routers into one. */
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
