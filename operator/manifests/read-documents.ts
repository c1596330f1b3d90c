// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Document, LineCounter, parseAllDocuments, type Tags } from 'yaml'
import type { Json } from './json.ts'

/** One document of a file: its value, or what is wrong with it. */
export type ManifestDocument = {
  /** Counted from 1: `document 2, line 14`. */
  readonly place: string
} & ({ readonly value: Json } | { readonly fault: string })

/** Reads documents of YAML 1.1, as kubectl does, or of JSON. Never throws, and no fault repeats what may be a key. */
export function readDocuments(text: string): readonly ManifestDocument[] {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    customTags: (tags) => tags.filter(isKnownToKubectl),
    lineCounter,
    prettyErrors: false,
    logLevel: 'error',
  })
  return documents.map((document, index) => {
    const [error = document.warnings[0]] = document.errors
    const offset = error?.pos[0] ?? document.contents?.range[0] ?? 0
    const place = `document ${index + 1}, line ${lineCounter.linePos(offset).line}`
    if (error !== undefined) return { place, fault: firstSentence(error.message) }
    return { place, ...valueOf(document) }
  })
}

/** Dates and numbers to the base 60 are texts to kubectl. */
function isKnownToKubectl(tag: Tags[number]): boolean {
  return typeof tag === 'string' || !(tag.tag.endsWith(':timestamp') || tag.format === 'TIME')
}

/** Throws for aliases of nothing, and for few lines of aliases that stand for very many values. */
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
