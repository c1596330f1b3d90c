// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Composer,
  Document,
  type DocumentOptions,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from 'yaml'

/**
 * Limits for all user-supplied YAML. Composing a document recurses, and the parser and later checks
 * search keys linearly. Without limits, a short text takes minutes or overflows the stack.
 */
const limits = { depth: 64, keys: 1_000, items: 10_000 } as const

/** Error message for a text that nests too deeply. */
export const tooDeep = `values nest more than ${limits.depth} levels deep`

type Options = ParseOptions &
  DocumentOptions &
  SchemaOptions & { readonly lineCounter: LineCounter }

/** Parses a single document; a second document is an error. Never throws. */
export function parseYaml(text: string, options: Options): Document {
  const [document = new Document(), second] = parseYamlStream(text, options)
  const at = second?.range?.[0]
  if (at !== undefined)
    document.errors.push(
      new YAMLParseError([at, at], 'MULTIPLE_DOCS', 'there are several documents'),
    )
  return document
}

/** Parses all documents. Beyond a limit, returns one document with an error. Never throws. */
export function parseYamlStream(text: string, options: Options): readonly Document[] {
  const composer = new Composer({ ...options, prettyErrors: false })
  try {
    return [...composer.compose(tokensOf(text, options.lineCounter))]
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
    const document = new Document()
    document.errors.push(error)
    return [document]
  }
}

/** Stops at the first error, or at a token beyond a limit, so the rest is not parsed. */
function* tokensOf(text: string, lineCounter: LineCounter): ReturnType<Parser['parse']> {
  const parser = new Parser(lineCounter.addNewLine)
  lineCounter.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      yield token
      if (token.type === 'error') return
    }
    const excess = excessOf(parser.stack)
    if (excess !== null)
      throw new YAMLParseError([parser.offset, parser.offset], 'RESOURCE_EXHAUSTION', excess)
  }
  yield* parser.end()
}

/** The limit that a text with these open nodes exceeds. */
function excessOf(open: Parser['stack']): string | null {
  const { depth, keys, items } = limits
  if (open.length > depth) return tooDeep
  const inner = open.at(-1)
  if (inner === undefined || !('items' in inner)) return null
  const isMap =
    inner.type === 'block-map' ||
    (inner.type === 'flow-collection' && inner.start.type === 'flow-map-start')
  const most = isMap ? keys : items
  return inner.items.length > most
    ? `a ${isMap ? 'map' : 'list'} has more than ${most} ${isMap ? 'keys' : 'entries'}`
    : null
}

/** Whether a value, such as parsed JSON, nests too deeply. */
export function isTooDeep(value: unknown, depth: number = limits.depth): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((inner) => isTooDeep(inner, depth - 1))
}
