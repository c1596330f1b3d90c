// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Document, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'
import type { Json } from '../admission/fault.ts'
import { aliasFault, type DocumentFault } from './bounded-aliases.ts'
import { jsonObjects, type TextPart } from './json-objects.ts'

/** One document of a file: its value, or what is wrong with it. */
export type ManifestDocument = {
  /** Counted from 1: `document 2, line 14`. */
  readonly place: string
} & ({ readonly value: Json } | { readonly fault: string })

interface ParsedDocument {
  readonly document: Document<ParsedNode>
  /** Of the text that it was read from. */
  readonly offset: number
}

/** Reads YAML documents, or JSON objects that stand one after another. Never throws. */
export function readDocuments(text: string): readonly ManifestDocument[] {
  const lines = lineCounter(text)
  return parse(text).map((parsed, index) => {
    const place = (at: number) =>
      `document ${index + 1}, line ${lines.linePos(parsed.offset + at).line}`
    const { document } = parsed
    const start = document.contents?.range[0] ?? 0
    const fault = syntaxFault(document) ?? aliasFault(document.contents)
    if (fault !== null) return { place: place(fault.offset), fault: fault.message }
    return { place: place(start), ...expanded(document) }
  })
}

function parse(text: string): readonly ParsedDocument[] {
  const whole = parsePart({ text, offset: 0 })
  if (whole.every(({ document }) => document.errors.length === 0)) return whole
  return jsonObjects(text)?.flatMap(parsePart) ?? whole
}

function parsePart({ text, offset }: TextPart): readonly ParsedDocument[] {
  const documents = parseAllDocuments(text, {
    // As kubectl has it.
    merge: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  return documents.map((document) => ({ document, offset }))
}

/** What the parser says, without what stands in the text: that may be a key. */
function syntaxFault({ errors: [error] }: Document): DocumentFault | null {
  if (error === undefined) return null
  const [offset] = error.pos
  const words = error.message.split('\n')[0] ?? ''
  if (error.code === 'RESOURCE_EXHAUSTION') return { message: 'is nested too deeply', offset }
  if (error.code !== 'UNEXPECTED_TOKEN') return { message: words, offset }
  if (words.startsWith('Unexpected flow-map-start'))
    return { message: 'another object begins here: put a line with --- before each', offset }
  return { message: words.replace(/: .*$/s, ''), offset }
}

function expanded(document: Document): { readonly value: Json } | { readonly fault: string } {
  try {
    // Aliases are bounded already.
    return { value: document.toJS({ maxAliasCount: -1 }) as Json }
  } catch (error) {
    return { fault: `cannot be read: ${(error as Error).message}` }
  }
}

function lineCounter(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lines.addNewLine(at + 1)
  return lines
}
