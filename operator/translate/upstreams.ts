// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KnownChains } from '../../proxy/config/check-chains.ts'
import type { NodeUrl } from '../api/node-urls.ts'
import type { NamedValue } from '../api/refs.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import { type Piece, type YamlMap, configText } from './config-text.ts'
import type { ReferenceData } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Listener } from './serving.ts'
import type { TranslateInput, UnreadableProvider } from './translation.ts'
import { type Place, ValueCollector, tlsSection } from './value-collector.ts'
import type { Dangling, ProviderRefusal } from './violation.ts'

/** A provider as it is written now, and what is wrong with it before the router was asked. */
export interface Candidate {
  readonly plan: UpstreamPlan
  readonly refusals: readonly ProviderRefusal[]
  readonly dangling: readonly Dangling[]
}

/** Calls a chain by its id where it is known, so that an alias of it means the same chain. */
export function chainNames(chains: KnownChains | null): (chainId: string) => string {
  return (chainId) => chains?.find(chainId)?.id ?? chainId
}

/**
 * Plans the providers of a router, in the order of their names. Of two with one name for the same chain, the older one has it.
 *
 * @param router its name
 */
export function planUpstreams(
  router: string,
  listeners: readonly Listener[],
  chainIdOf: (chainId: string) => string,
  { providers, unreadable = [], data }: Pick<TranslateInput, 'providers' | 'unreadable' | 'data'>,
): readonly Candidate[] {
  const age = ({ metadata: { name, creationTimestamp = '' } }: UpstreamProvider) =>
    `${creationTimestamp} ${name}`
  const holders = new Map<string, string>()
  const candidates = providers
    .toSorted((a, b) => (age(a) < age(b) ? -1 : 1))
    .map((provider): Candidate => {
      const { plan, refusals, dangling } = planUpstream(provider, chainIdOf, data)
      const name = upstreamNameOf(provider)
      const identity = `${plan.serves} ${name}`
      const holder = holders.get(identity)
      if (listeners.every(({ serves }) => serves !== plan.serves))
        return { plan, refusals: [notServed(plan, router, listeners)], dangling: [] }
      if (holder !== undefined)
        return { plan, refusals: [duplicate(plan, name, holder)], dangling: [] }
      holders.set(identity, plan.provider)
      return { plan, refusals, dangling }
    })
  return [...candidates, ...unreadable.map(unreadableCandidate)].toSorted((a, b) =>
    a.plan.provider < b.plan.provider ? -1 : 1,
  )
}

function unreadableCandidate({ name, faults }: UnreadableProvider): Candidate {
  const nothing = { serves: '', entry: {}, variables: [], files: [], copies: [] }
  return {
    plan: { provider: name, tier: 'primary', ...nothing },
    refusals: [{ reason: 'InvalidSpec', field: '', message: faults }],
    dangling: [],
  }
}

function planUpstream(
  provider: UpstreamProvider,
  chainIdOf: (chainId: string) => string,
  data: ReferenceData,
): Candidate {
  const { spec, metadata } = provider
  const collector = new ValueCollector(data)
  const chainId = chainIdOf(spec.chainId)
  const { entry, refusals } = upstreamEntry(provider, chainId, collector)
  const { variables, files, copies, dangling } = collector
  const serves = `${chainId} ${spec.apiInterface}`
  const plan = { provider: metadata.name, tier: spec.tier, serves, entry, variables, files, copies }
  return { plan, refusals, dangling }
}

function notServed(
  { serves }: UpstreamPlan,
  router: string,
  listeners: readonly Listener[],
): ProviderRefusal {
  const wanted = [...new Set(listeners.map((listener) => listener.serves))].join(', ')
  const message = `the RpcRouter ${router} has no endpoint for ${serves}, only for ${wanted}`
  return { reason: 'ChainNotServed', field: 'spec.chainId', message }
}

function duplicate({ serves }: UpstreamPlan, name: string, holder: string): ProviderRefusal {
  const message = `the UpstreamProvider ${holder} has the name ${name} for ${serves} already`
  return { reason: 'DuplicateName', field: 'spec.upstreamName', message }
}

/** A provider's entry of `direct-rpc` or `backup-direct-rpc`, with what is wrong in its own texts. */
export interface UpstreamEntry {
  readonly entry: YamlMap
  readonly refusals: readonly ProviderRefusal[]
}

/**
 * Writes a provider as an upstream of the router's config.
 *
 * @param chainId the chain as the config calls it, whatever alias the provider uses
 */
export function upstreamEntry(
  provider: UpstreamProvider,
  chainId: string,
  collector: ValueCollector,
): UpstreamEntry {
  const { spec, metadata } = provider
  const writer = new EntryWriter(provider, collector)
  const entry = {
    name: upstreamNameOf(provider),
    'chain-id': chainId,
    'api-interface': spec.apiInterface,
    'group-label': spec.groupLabel,
    'node-urls': spec.nodeUrls.map((node, index) =>
      writer.nodeUrl(node, { field: `spec.nodeUrls[${index}]`, words: [metadata.name, node.url] }),
    ),
  }
  return { entry, refusals: writer.refusals }
}

/** The name of the upstream in the router's config. */
function upstreamNameOf({ spec, metadata }: UpstreamProvider): string {
  return spec.upstreamName ?? metadata.name
}

/** `${NAME}`, and `$${NAME}`, which is the text `${NAME}` itself, as in the router's own config. */
const reference = /(?<escape>\$?)\$\{(?<name>[A-Za-z0-9_]+)\}/g

class EntryWriter {
  readonly refusals: ProviderRefusal[] = []
  readonly #provider: UpstreamProvider
  readonly #collector: ValueCollector

  constructor(provider: UpstreamProvider, collector: ValueCollector) {
    this.#provider = provider
    this.#collector = collector
  }

  nodeUrl(node: NodeUrl, place: Place): YamlMap {
    return {
      url: this.#template(`${place.field}.url`, node.url),
      timeout: node.timeout,
      addons: node.addons,
      'skip-verifications': node.skipVerifications,
      'auth-config': this.#auth(node, place),
      'grpc-config':
        node.grpc && Object.fromEntries(sorted(Object.entries(node.grpc), ([key]) => key)),
    }
  }

  #auth({ auth }: NodeUrl, place: Place): YamlMap | undefined {
    if (auth === undefined) return undefined
    const { headers = [], query = [], tls } = auth
    const section = {
      'auth-headers': this.#namedValues('headers', headers, place),
      'auth-query': this.#namedValues('query', query, place),
      tls: tls && tlsSection(this.#within(place, 'tls'), tls, this.#collector),
    }
    return Object.values(section).every((part) => part === undefined) ? undefined : section
  }

  #namedValues(kind: string, values: readonly NamedValue[], place: Place): YamlMap | undefined {
    if (values.length === 0) return undefined
    const entries = sorted(values, ({ name }) => name).map((value) => {
      const { field, words } = this.#within(place, kind)
      const at = { field: `${field}[${value.name}]`, words: [...words, value.name] }
      return [value.name, this.#value(value, at)] as const
    })
    return Object.fromEntries(entries)
  }

  #value({ value, valueFrom }: NamedValue, place: Place): string {
    if (valueFrom === undefined) return this.#template(place.field, value ?? '')
    return this.#write(place.field, [this.#collector.value(place, valueFrom)])
  }

  /** A text of the user's in which `${NAME}` stands for a variable of the provider. */
  #template(field: string, text: string): string {
    const pieces: Piece[] = []
    let end = 0
    for (const match of text.matchAll(reference)) {
      const { escape, name = '' } = match.groups ?? {}
      pieces.push({ literal: text.slice(end, match.index) })
      pieces.push(escape ? { literal: `\${${name}}` } : this.#variable(field, name))
      end = match.index + match[0].length
    }
    return this.#write(field, [...pieces, { literal: text.slice(end) }])
  }

  #write(field: string, pieces: readonly Piece[]): string {
    const written = configText(pieces)
    if (written === null) {
      const message = 'a variable cannot stand right behind $, nor behind $<'
      this.refusals.push({ reason: 'InvalidSpec', field, message })
    }
    return written ?? ''
  }

  #variable(field: string, name: string): Piece {
    const { spec, metadata } = this.#provider
    const index = spec.variables?.findIndex((variable) => variable.name === name) ?? -1
    const variable = spec.variables?.[index]
    if (variable === undefined) {
      const known = spec.variables?.map((each) => each.name).join(', ')
      const have = known ? `The variables are ${known}.` : 'There are no variables.'
      const message = `\${${name}} is not a variable of the provider. ${have}`
      this.refusals.push({ reason: 'UnknownVariable', field, message })
      return { literal: '' }
    }
    const words = [metadata.name, 'variable', name]
    const place = { field: `spec.variables[${name}].valueFrom`, words }
    return this.#collector.value(place, variable.valueFrom)
  }

  #within({ field, words }: Place, part: string): Place {
    return { field: `${field}.auth.${part}`, words: [...words, part] }
  }
}

function sorted<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b))))
}
