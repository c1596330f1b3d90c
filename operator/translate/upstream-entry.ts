// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrl } from '../api/node-urls.ts'
import type { NamedValue } from '../api/refs.ts'
import type { UpstreamProvider } from '../api/upstream-provider.ts'
import type { YamlMap } from './canonical-yaml.ts'
import { configText, type Piece } from './config-text.ts'
import { tlsSection } from './tls-section.ts'
import type { Place, ValueCollector } from './value-collector.ts'
import type { ProviderRefusal } from './violation.ts'

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
export function upstreamNameOf({ spec, metadata }: UpstreamProvider): string {
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
