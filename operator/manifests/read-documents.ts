// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Document, LineCounter, type Tags } from 'yaml'
import { parseYamlStream } from '../../proxy/config/yaml/parse-yaml.ts'

/** A JSON value from a manifest. */
export type Json = string | number | boolean | null | readonly Json[] | JsonMap

export interface JsonMap {
  readonly [key: string]: Json
}

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Removes keys whose value is null, which the API server treats as unset. */
export function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls)
  if (!isMap(value)) return value
  const set = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(set.map(([key, inner]) => [key, withoutNulls(inner)]))
}

/** One document of a file: its value, or what is wrong. */
export type ManifestDocument = {
  /** Position, counted from 1: `document 2, line 14`. */
  readonly place: string
} & ({ readonly value: Json } | { readonly fault: string })

/** Reads YAML 1.1, as kubectl does, or JSON. Never throws. No message quotes secrets. */
export function readDocuments(text: string): readonly ManifestDocument[] {
  const lineCounter = new LineCounter()
  const documents = parseYamlStream(text, {
    version: '1.1',
    merge: true,
    customTags: (tags) => tags.filter(isKnownToKubectl),
    lineCounter,
    logLevel: 'error',
  })
  return documents.map((document, index) => {
    const [error = document.warnings[0]] = document.errors
    const offset = error?.pos[0] ?? document.contents?.range?.[0] ?? 0
    const place = `document ${index + 1}, line ${lineCounter.linePos(offset).line}`
    if (error !== undefined) return { place, fault: firstSentence(error.message) }
    return { place, ...valueOf(document) }
  })
}

/** Excludes dates and base 60 numbers, which kubectl reads as strings. */
function isKnownToKubectl(tag: Tags[number]): boolean {
  return typeof tag === 'string' || !(tag.tag.endsWith(':timestamp') || tag.format === 'TIME')
}

/** Converts a document. Unresolved aliases and excessive expansion are faults. */
function valueOf(document: Document): { readonly value: Json } | { readonly fault: string } {
  try {
    return { value: document.toJS({ maxAliasCount: 1_000 }) as Json }
  } catch (error) {
    return { fault: firstSentence((error as Error).message) }
  }
}

function firstSentence(message: string): string {
  return message.split(/: |\n/)[0] ?? ''
}
