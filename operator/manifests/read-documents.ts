// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type Document,
  type ErrorCode,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml'
import type { Json } from '../admission/fault.ts'
import { jsonOfYaml, NoJsonError, parsedAsTexts } from '../yaml/json-of-yaml.ts'
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

/** Reads YAML documents as kubectl does, or JSON objects that stand one after another. Never throws. */
export function readDocuments(text: string): readonly ManifestDocument[] {
  const lines = lineCounter(text)
  return parse(text).map((parsed, index) => {
    const place = (at: number) =>
      `document ${index + 1}, line ${lines.linePos(parsed.offset + at).line}`
    const { document } = parsed
    const start = document.contents?.range[0] ?? 0
    const fault = syntaxFault(document) ?? aliasFault(document.contents)
    const read = fault ?? expanded(document)
    if ('message' in read) return { place: place(read.offset), fault: read.message }
    return { place: place(start), value: read.value }
  })
}

function parse(text: string): readonly ParsedDocument[] {
  const whole = parsePart({ text, offset: 0 })
  if (whole.every(({ document }) => document.errors.length === 0)) return whole
  return jsonObjects(text)?.flatMap(parsePart) ?? whole
}

function parsePart({ text, offset }: TextPart): readonly ParsedDocument[] {
  const documents = parseAllDocuments(text, {
    ...parsedAsTexts,
    prettyErrors: false,
    logLevel: 'error',
  })
  return documents.map((document) => ({ document, offset }))
}

/** Instead of sentences of the parser that repeat what stands in the text: that may be a key. */
const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAG_RESOLVE_FAILED: 'a tag (!) is not known; a text needs quotes',
  BAD_DQ_ESCAPE: 'a text in double quotes has an unknown escape sequence (\\)',
}

function syntaxFault({ errors: [error] }: Document): DocumentFault | null {
  if (error === undefined) return null
  const words = error.message.split('\n')[0] ?? ''
  const isSecond = words.startsWith('Unexpected flow-map-start')
  const message = isSecond
    ? 'another object begins here: put a line with --- before each'
    : (sentences[error.code] ?? words.replace(/(token in YAML [a-z]+|extra characters): .*$/, '$1'))
  return { message, offset: error.pos[0] }
}

function expanded({ contents }: Document): { readonly value: Json } | DocumentFault {
  try {
    return { value: jsonOfYaml(contents) as Json }
  } catch (error) {
    if (error instanceof NoJsonError) return error
    throw error
  }
}

function lineCounter(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lines.addNewLine(at + 1)
  return lines
}
