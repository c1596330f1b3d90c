// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document } from 'yaml'
import type { YamlMap, YamlValue } from '../api/crd/kube-yaml.ts'
import { digest } from './object-names.ts'

/** A part of a text of the router's config: the text itself, or a variable that is replaced by its value. */
export type Piece = { readonly literal: string } | { readonly variable: string }

/**
 * Writes a text so that the router reads the literals as they are, whatever is in them, and fills in the variables.
 *
 * @returns null for what the syntax of the router cannot say: a variable right behind `$`, or between `$<` and `>`
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

/** What the router would take for a placeholder, or for the beginning of one. */
const opening = /\$(?:\{[^{}]*\}|<[^<>]*>|[{<])/g

/** A second dollar makes it literal, to its end. */
function escape(text: string): string {
  return text.replaceAll(opening, (match) => `$${match}`)
}

export type { YamlMap, YamlValue }

/** An entry of `direct-rpc` or `backup-direct-rpc`: what is read of it again, and more. */
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
 * Writes the YAML 1.2 of the router's own files in one way only, so that equal values give equal text: no anchors, no folding, a string that
 * could be read as something else in quotes. Keys and lists keep their order.
 */
export function canonicalYaml(value: YamlValue): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' })
  return document.toString({ lineWidth: 0, singleQuote: true })
}

/** The same items in the order of their names. */
export function inOrder<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b))))
}

const maxWordLength = 24

/**
 * The name of the variable that carries a key of a Secret. Fields that use the same key share it: pods that have it can take over another
 * field with it.
 *
 * @returns `KEY_ALCHEMY_API_KEY_3F0A…`: both words for readers, a hash of them for uniqueness
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
