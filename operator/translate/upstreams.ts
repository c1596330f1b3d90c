// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NamedValue } from '../api/refs.ts'
import type { NodeUrl, UpstreamProvider } from '../api/upstream-provider.ts'
import {
  type AuthEntry,
  type NodeUrlEntry,
  type Piece,
  type UpstreamEntry,
  type YamlMap,
  configText,
  inOrder,
} from './config-text.ts'
import type { ReferenceData } from './reference-data.ts'
import { type ChainIdOf, inDashes, type Listener, type UpstreamPlan } from './router-document.ts'
import type { ProviderFaults } from './translation.ts'
import { type ValueSource, ValueCollector, tlsSection } from './value-collector.ts'
import type { ProviderRefusal } from './violations.ts'
import type { TranslateInput, UnreadableProvider } from './translate-input.ts'

/** A provider's plan, with its faults before validation by the router's parser. */
export interface Candidate extends ProviderFaults {
  readonly plan: UpstreamPlan
}

/** Plans the providers of a router, sorted by name. Of two with the same name, the older wins. */
export function planUpstreams(
  listeners: readonly Listener[],
  chainIdOf: ChainIdOf,
  { router, providers, unreadable = [], data }: TranslateInput,
): readonly Candidate[] {
  const age = ({ metadata: { name, creationTimestamp = '' } }: UpstreamProvider) =>
    `${creationTimestamp} ${name}`
  const holders = new Map<string, string>()
  const candidates = inOrder(providers, age).map((provider): Candidate => {
    const planned = planUpstream(provider, chainIdOf, data)
    const { plan } = planned
    const name = upstreamNameOf(provider)
    const identity = `${plan.serves} ${name}`
    const holder = holders.get(identity)
    if (listeners.every(({ serves }) => serves !== plan.serves))
      return {
        plan,
        refusals: [notServed(plan, router.metadata.name, listeners)],
        unresolvedRefs: [],
      }
    if (holder !== undefined)
      return { plan, refusals: [duplicate(plan, name, holder)], unresolvedRefs: [] }
    holders.set(identity, plan.provider)
    return planned
  })
  return inOrder(
    [...candidates, ...unreadable.map(unreadableCandidate)],
    ({ plan }) => plan.provider,
  )
}

function unreadableCandidate({ name, faults }: UnreadableProvider): Candidate {
  const entry = { 'node-urls': [] }
  const nothing = { serves: '', entry, variables: [], files: [], copies: [] }
  return {
    plan: { provider: name, tier: 'primary', ...nothing },
    refusals: [{ reason: 'InvalidSpec', field: '', message: faults }],
    unresolvedRefs: [],
  }
}

function planUpstream(
  provider: UpstreamProvider,
  chainIdOf: ChainIdOf,
  data: ReferenceData,
): Candidate {
  const { spec, metadata } = provider
  const collector = new ValueCollector(data, provider)
  const chainId = chainIdOf(spec.chainId)
  const { entry, refusals } = upstreamEntry(provider, chainId, collector)
  const { variables, files, copies, unresolvedRefs } = collector
  const serves = `${chainId} ${spec.apiInterface}`
  const plan = { provider: metadata.name, tier: spec.tier, serves, entry, variables, files, copies }
  return { plan, refusals, unresolvedRefs }
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
  const message = `the UpstreamProvider ${holder} already has the name ${name} for ${serves}`
  return { reason: 'DuplicateName', field: 'spec.upstreamName', message }
}

/**
 * Writes a provider as an upstream of the router's config, and refuses faults in its own fields.
 * @param chainId name of the chain in the config
 */
export function upstreamEntry(
  provider: UpstreamProvider,
  chainId: string,
  collector: ValueCollector,
): { readonly entry: UpstreamEntry; readonly refusals: readonly ProviderRefusal[] } {
  const { spec, metadata } = provider
  const writer = new EntryWriter(provider, collector)
  const entry = {
    name: upstreamNameOf(provider),
    'chain-id': chainId,
    'api-interface': spec.apiInterface,
    'group-label': spec.groupLabel,
    'allowed-methods': spec.allowedMethods,
    'denied-methods': spec.deniedMethods,
    'node-urls': spec.nodeUrls.map((node, index) =>
      writer.nodeUrl(node, { field: `spec.nodeUrls[${index}]`, words: [metadata.name, node.url] }),
    ),
  }
  return { entry, refusals: writer.refusals }
}

/** Returns the name of the upstream in the router's config. */
export function upstreamNameOf({ spec, metadata }: UpstreamProvider): string {
  return spec.upstreamName ?? metadata.name
}

/** Matches `${NAME}`, and `$${NAME}`, which stands for a literal `${NAME}`. */
const reference = /(?<escape>\$?)\$\{(?<name>[A-Za-z0-9_]+)\}/g

class EntryWriter {
  readonly refusals: ProviderRefusal[] = []
  readonly #provider: UpstreamProvider
  readonly #collector: ValueCollector

  constructor(provider: UpstreamProvider, collector: ValueCollector) {
    this.#provider = provider
    this.#collector = collector
  }

  nodeUrl(node: NodeUrl, source: ValueSource): NodeUrlEntry {
    return {
      ...inDashes({ ...node, limits: node.limits && inDashes(node.limits), auth: undefined }),
      url: this.#template(`${source.field}.url`, node.url),
      'auth-config': this.#auth(node, source),
    }
  }

  #auth({ auth }: NodeUrl, source: ValueSource): AuthEntry | undefined {
    if (auth === undefined) return undefined
    const { headers = [], query = [], tls } = auth
    const section = {
      'auth-headers': this.#namedValues('headers', headers, source),
      'auth-query': this.#namedValues('query', query, source),
      tls: tls && tlsSection(this.#within(source, 'tls'), tls, this.#collector),
    }
    return Object.values(section).every((part) => part === undefined) ? undefined : section
  }

  #namedValues(
    kind: string,
    values: readonly NamedValue[],
    source: ValueSource,
  ): YamlMap | undefined {
    if (values.length === 0) return undefined
    const entries = inOrder(values, ({ name }) => name).map((value) => {
      const { field, words } = this.#within(source, kind)
      const at = { field: `${field}[${value.name}]`, words: [...words, value.name] }
      return [value.name, this.#value(value, at)] as const
    })
    return Object.fromEntries(entries)
  }

  #value({ value, valueFrom }: NamedValue, source: ValueSource): string {
    if (valueFrom === undefined) return this.#template(source.field, value ?? '')
    return this.#write(source.field, [this.#collector.value(source, valueFrom)])
  }

  /** Replaces each `${NAME}` in a user's text with a variable of the provider. */
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
      const message = 'a variable cannot directly follow $ or $<'
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
    const source = { field: `spec.variables[${name}].valueFrom`, words }
    return this.#collector.value(source, variable.valueFrom)
  }

  #within({ field, words }: ValueSource, part: string): ValueSource {
    return { field: `${field}.auth.${part}`, words: [...words, part] }
  }
}
