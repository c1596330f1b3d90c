// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document } from 'yaml'
import type { YamlMap, YamlValue } from '../api/crd/kube-yaml.ts'
import { digest } from './object-names.ts'

/** Part of a string in the router's config: literal text, or a variable. */
export type Piece = { readonly literal: string } | { readonly variable: string }

/**
 * Writes a string so that the router reads its literals verbatim and replaces its variables.
 * @returns null if the router's syntax cannot express it: a variable after `$`, or in `$<` and `>`
 */
export function configText(pieces: readonly Piece[]): string | null {
  let written = ''
  let pending = ''
  for (const piece of pieces) {
    if ('literal' in piece) {
      pending += piece.literal
      continue
    }
    if (/\$(?:<[^<>]*)?$/.test(pending)) return null
    written += `${escape(pending)}\${${piece.variable}}`
    pending = ''
  }
  return written + escape(pending)
}

/** Text that the router would read as a placeholder, or as the start of one. */
const opening = /\$(?:\{[^{}]*\}|<[^<>]*>|[{<])/g

/** Escapes placeholders with a second dollar. */
function escape(text: string): string {
  return text.replaceAll(opening, (match) => `$${match}`)
}

export type { YamlMap, YamlValue }

/** An entry of `direct-rpc` or `backup-direct-rpc`, with types for fields that are read back. */
export interface UpstreamEntry extends YamlMap {
  readonly 'node-urls': readonly NodeUrlEntry[]
}

export interface NodeUrlEntry extends YamlMap {
  readonly url: string
  readonly 'auth-config'?: AuthEntry | undefined
}

export interface AuthEntry extends YamlMap {
  readonly tls?: TlsEntry | undefined
}

export interface TlsEntry extends YamlMap {
  readonly 'ca-file'?: string | undefined
  readonly 'cert-file'?: string | undefined
  readonly 'key-file'?: string | undefined
}

/**
 * Writes the router's files in canonical YAML 1.2, so that equal values give equal text: no
 * anchors, no folding, quotes around ambiguous strings. Keys and lists keep their order.
 */
export function canonicalYaml(value: YamlValue): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' })
  return document.toString({ lineWidth: 0, singleQuote: true })
}

/** Sorts items by name. */
export function inOrder<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b))))
}

const maxWordLength = 24

/**
 * Names the variable for a key of a Secret. Fields with the same key share it, so that pods that
 * have it can reload another field that uses it.
 * @returns `KEY_ALCHEMY_API_KEY_3F0A…`: both names for readers, and a hash for uniqueness
 */
export function variableName(source: readonly [secret: string, key: string]): string {
  return ['KEY', ...source.map(shoutingWord), digest(source).toUpperCase()].join('_')
}

function shoutingWord(text: string): string {
  return text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, maxWordLength)
    .replaceAll(/^_|_$/g, '')
}
