// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Tier } from '../../proxy/config/types.ts'
import type { CrossValidation } from '../api/cross-validation.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { type YamlMap, canonicalYaml } from './config-text.ts'
import type { CopiedFile, ReferenceData, SecretFile, Variable } from './reference-data.ts'
import { bindAddress, relaySection, settingSection } from './router-settings.ts'
import { type SpecsRead, readSpecSources } from './spec-sources.ts'
import { type StateChoice, storeSection } from './state-store.ts'
import { ValueCollector } from './value-collector.ts'
import type { Dangling } from './violation.ts'

/** What one provider comes to: an upstream of the config, and what the pods need for it. */
export interface UpstreamPlan {
  /** Name of the UpstreamProvider. */
  readonly provider: string
  readonly tier: Tier
  /** `ETH1 jsonrpc`, with the chain as the config calls it. */
  readonly serves: string
  readonly entry: YamlMap
  readonly variables: readonly Variable[]
  readonly files: readonly SecretFile[]
  readonly copies: readonly CopiedFile[]
}

/** What the router object itself brings into the config, upstreams and listeners apart. */
export interface RouterPlan {
  readonly settings: YamlMap
  readonly storeField: string
  readonly variables: readonly Variable[]
  readonly files: readonly SecretFile[]
  readonly copies: readonly CopiedFile[]
  readonly dangling: readonly Dangling[]
  readonly specs: SpecsRead
}

/** A config as text, with what is needed to trace a place in it back to the objects. */
export interface RouterDocument {
  readonly text: string
  /** In the order of the config within each tier. */
  readonly upstreams: readonly UpstreamPlan[]
  readonly endpoints: readonly Endpoint[]
  readonly storeField: string
}

export function planRouter(
  router: RpcRouter,
  state: StateChoice,
  data: ReferenceData,
  chainIdOf: (chainId: string) => string,
): RouterPlan {
  const { spec } = router
  const collector = new ValueCollector(data)
  const store = storeSection(router, state.store, collector)
  const specs = readSpecSources(spec.specSources, collector)
  const settings = {
    'cross-validation': crossValidationSection(spec.crossValidation, chainIdOf),
    'resp-cache': store,
    'shared-state': state.shared || undefined,
    'use-static-spec': specs.section,
    ...settingSection(spec),
  }
  const { variables, files, copies, dangling } = collector
  const storeField = state.store.kind === 'external' ? state.store.field : 'spec.sharedState'
  return { settings, storeField, variables, files, copies, dangling, specs }
}

/**
 * Puts a config together. Upstreams stand in the order of their names, so that the same set gives the same text.
 *
 * @param skipsSockets whether it serves chains with subscriptions without a WebSocket URL
 */
export function routerDocument(
  { spec }: RpcRouter,
  plan: RouterPlan,
  endpoints: readonly Endpoint[],
  chainIdOf: (chainId: string) => string,
  upstreams: readonly UpstreamPlan[],
  skipsSockets: boolean,
): RouterDocument {
  const sorted = upstreams.toSorted((a, b) => (a.provider < b.provider ? -1 : 1))
  const ofTier = (tier: Tier) =>
    sorted.filter((upstream) => upstream.tier === tier).map(({ entry }) => entry)
  const backups = ofTier('backup')
  const document = {
    endpoints: endpoints.map((endpoint) => ({
      'network-address': bindAddress(spec.bindHost, endpoint.port),
      'chain-id': chainIdOf(endpoint.chainId),
      'api-interface': endpoint.apiInterface,
      relay: relaySection(endpoint.relay),
    })),
    'direct-rpc': ofTier('primary'),
    'backup-direct-rpc': backups.length === 0 ? undefined : backups,
    ...plan.settings,
    ...(skipsSockets && { 'skip-websocket-verification': true }),
  }
  return {
    text: canonicalYaml(document),
    upstreams: sorted,
    endpoints,
    storeField: plan.storeField,
  }
}

/** The `cross-validation` section of the config. */
function crossValidationSection(
  crossValidation: CrossValidation | undefined,
  chainIdOf: (chainId: string) => string,
): YamlMap | undefined {
  return (
    crossValidation && {
      policies: crossValidation.policies.map((policy) => ({
        'chain-id': chainIdOf(policy.chainId),
        'api-interface': policy.apiInterface,
        method: policy.method,
        enabled: policy.enabled,
        'agreement-threshold': policy.agreementThreshold,
        'max-participants': policy.maxParticipants,
        'min-groups': policy.minGroups,
        'per-group-quorum': policy.perGroupQuorum,
        'forbid-caller-cv': policy.forbidCallers,
      })),
    }
  )
}
