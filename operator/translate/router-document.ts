// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import type { ChainCatalog } from '../../proxy/chain/types.ts'
import { fixedTexts } from '../../proxy/config/live-keys.ts'
import type { Tier } from '../../proxy/config/types.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import { type UpstreamEntry, type YamlMap, canonicalYaml, inOrder } from './config-text.ts'
import { keyDirectory, secretDirectory } from './object-names.ts'
import type { RequiredRefs, ReferenceData } from './reference-data.ts'
import { bindAddress, relaySection, settingSection } from './router-settings.ts'
import { type ReadSpecs, compileSpecs, readSpecSources } from './spec-sources.ts'
import { type StateChoice, chooseState, storeSections } from './state-store.ts'
import { type PlainVariable, tracingEnvironment } from './tracing-environment.ts'
import { ValueCollector } from './value-collector.ts'
import type { UnresolvedRef } from './violations.ts'

/** The translation of one provider: an upstream in the config, with its references. */
export interface UpstreamPlan extends RequiredRefs {
  /** Name of the UpstreamProvider. */
  readonly provider: string
  readonly tier: Tier
  /** `ETH1 jsonrpc`, with the chain's name in the config. */
  readonly serves: string
  readonly entry: UpstreamEntry
}

/** The RpcRouter's part of the config, without upstreams and listeners. */
export interface RouterPlan extends RequiredRefs {
  readonly settings: YamlMap
  readonly bindHost: string
  readonly state: StateChoice
  readonly specs: ReadSpecs
  readonly chainIdOf: ChainIdOf
  readonly unresolvedRefs: readonly UnresolvedRef[]
  readonly allowLinkLocal: boolean
  readonly environment: readonly PlainVariable[]
}

/** Returns a chain's name in the config, given its id or an alias. */
export type ChainIdOf = (chainId: string) => string

/** Maps aliases of known chains to ids, so that an alias means the same chain. */
export function chainNames(chains: Pick<ChainCatalog, 'find'> | null): ChainIdOf {
  return (chainId) => chains?.find(chainId)?.id ?? chainId
}

/** An endpoint, and what its upstreams serve. */
export interface Listener {
  readonly endpoint: Endpoint
  readonly chainId: string
  /** `ETH1 jsonrpc`. */
  readonly serves: string
}

/** The text of a config, with the data that traces its fields back to objects. */
export interface RouterDocument {
  readonly text: string
  /** The part that a running router does not reload. */
  readonly fixed: string
  /** Upstreams of each tier, in the order of the config. */
  readonly upstreams: readonly UpstreamPlan[]
  readonly endpoints: readonly Endpoint[]
}

export function planRouter(
  router: RpcRouter,
  data: ReferenceData,
  bundled: BundledSpecs,
  allowLinkLocal: boolean,
): RouterPlan {
  const { spec } = router
  const collector = new ValueCollector(data, router)
  const stores = storeSections(router, collector)
  const specs = readSpecSources(spec.specSources, collector)
  const hasOwnSpecs = specs.section.length > 0
  // Only the router knows the chain names in the user's own specs.
  const chainIdOf = chainNames(hasOwnSpecs ? null : bundled.catalog)
  const environment = tracingEnvironment(router, collector)
  const settings = {
    'cross-validation': spec.crossValidation && {
      policies: spec.crossValidation.policies.map(({ forbidCallers, chainId, ...policy }) => ({
        'chain-id': chainIdOf(chainId),
        ...inDashes(policy),
        'forbid-caller-cv': forbidCallers,
      })),
    },
    logs: spec.logs,
    ...stores,
    'use-static-spec': hasOwnSpecs ? specs.section : undefined,
    ...settingSection(spec),
  }
  const { variables, files, copies, unresolvedRefs } = collector
  return {
    settings,
    bindHost: spec.bindHost,
    state: chooseState(spec),
    specs: compileSpecs(specs, bundled),
    chainIdOf,
    allowLinkLocal,
    environment,
    variables,
    files,
    copies,
    unresolvedRefs,
  }
}

/**
 * Builds the config. It sorts upstreams by name, so that equal sets give equal text.
 * @param skipsSockets whether to serve chains that have subscriptions without a WebSocket URL
 */
export function routerDocument(
  { settings, bindHost }: RouterPlan,
  listeners: readonly Listener[],
  upstreams: readonly UpstreamPlan[],
  skipsSockets = true,
): RouterDocument {
  const sorted = inOrder(upstreams, ({ provider }) => provider)
  const ofTier = (tier: Tier) =>
    sorted.filter((upstream) => upstream.tier === tier).map(({ entry }) => entry)
  const backups = ofTier('backup')
  const document = {
    endpoints: listeners.map(({ endpoint, chainId }) => ({
      'network-address': bindAddress(bindHost, endpoint.port),
      'chain-id': chainId,
      'api-interface': endpoint.apiInterface,
      'allowed-methods': endpoint.allowedMethods,
      'denied-methods': endpoint.deniedMethods,
      relay: relaySection(endpoint.relay),
    })),
    'direct-rpc': ofTier('primary'),
    'backup-direct-rpc': backups.length === 0 ? undefined : backups,
    ...settings,
    ...(skipsSockets && { 'skip-websocket-verification': true }),
    ...(sorted.some(({ variables }) => variables.length > 0) && {
      'env-file': [`${secretDirectory}/${keyDirectory}`],
    }),
  }
  const endpoints = listeners.map(({ endpoint }) => endpoint)
  const fixed = JSON.stringify([...fixedTexts(document)])
  return { text: canonicalYaml(document), fixed, upstreams: sorted, endpoints }
}

/** Converts keys such as `minGroups` to `min-groups`. */
export function inDashes(fields: YamlMap): YamlMap {
  const dashed = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [dashed(key), value]))
}
