// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Composer, type Document, LineCounter, Parser, type YAMLError } from 'yaml'
import type { Problem } from './problem.ts'

/** A place in the file, 1-based. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A text that YAML could read, or what is wrong with it. */
export interface YamlText {
  /** Null when there is nothing to work with. */
  readonly document: Document | null
  readonly problems: readonly Problem[]
  positionAt(offset: number): Position
}

const mostSyntaxProblems = 10

/*
 * Nobody writes this by hand, and the parser's recursion and time are better not tried with it.
 */
const absurdNesting = /(?:[[{]\s*){65}|(?:[-?:][ \t\n]+){65}/

/** Reads YAML 1.2 with every scalar kept as the text that stands in the file. Never throws. */
export function readYamlText(text: string): YamlText {
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return line === 0 ? { line: 1, column: offset + 1 } : { line, column: col }
  }
  const failed = (message: string, hint: string | null, offset: number | null): YamlText => {
    const position = offset === null ? null : positionAt(offset)
    return { document: null, problems: [problemAt(position, message, hint)], positionAt }
  }
  const clean = text.startsWith('\uFEFF') ? text.slice(1) : text
  countLines(clean, lines)
  const control = /(?![\s\u0085])\p{Cc}/u.exec(clean)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(4, '0')
    return failed(
      `the file holds a control character (U+${code})`,
      'Is it a text file?',
      control.index,
    )
  }
  const absurd = absurdNesting.exec(clean)
  if (absurd !== null) return failed('the file is nested too deeply', null, absurd.index)

  const documents = compose(clean)
  const [document] = documents
  if (document === undefined || isEmpty(document)) {
    return failed('the file is empty', 'It needs at least endpoints and direct-rpc.', null)
  }
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    return { document: null, problems: syntaxProblems(faults, positionAt), positionAt }
  }
  if (documents.length > 1) {
    const offset = documents[1]?.range?.[0] ?? null
    return failed(
      'the file holds several YAML documents',
      'Keep one; remove the --- lines.',
      offset,
    )
  }
  return { document, problems: [], positionAt }
}

/** At most two documents: the second one is already a mistake. */
function compose(text: string): readonly Document[] {
  const composer = new Composer({
    schema: 'failsafe',
    version: '1.2',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  return composer.compose(new Parser().parse(text)).take(2).toArray()
}

function countLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lines.addNewLine(at + 1)
}

function isEmpty(document: Document): boolean {
  const faultless = document.errors.length === 0 && document.warnings.length === 0
  const { contents } = document
  if (!faultless) return false
  return (
    contents === null || ('source' in contents && contents.source === '' && !('anchor' in contents))
  )
}

function syntaxProblems(
  faults: readonly YAMLError[],
  positionAt: (offset: number) => Position,
): readonly Problem[] {
  const seen = new Set<number>()
  const problems: Problem[] = []
  for (const fault of faults) {
    const position = positionAt(fault.pos[0])
    // One slip makes several faults on its line; the first says it best.
    if (seen.has(position.line)) continue
    seen.add(position.line)
    const [message, hint] = explain(fault)
    problems.push(problemAt(position, message, hint))
    if (problems.length === mostSyntaxProblems) break
  }
  return problems
}

const explanations: ReadonlyMap<string, readonly [message: string, hint: string | null]> = new Map([
  ['TAB_AS_INDENT', ['a tab is used for indentation', 'YAML is indented with spaces.']],
  ['BAD_INDENT', ['the indentation does not fit the lines around it', null]],
  [
    'BLOCK_AS_IMPLICIT_KEY',
    ['there is a second ": " in this line', 'Put the value in quotes if it is meant to hold one.'],
  ],
  ['MULTILINE_IMPLICIT_KEY', ['a key is not followed by ":"', 'Write key: value.']],
  ['TAG_RESOLVE_FAILED', ['a YAML tag ("!...") is not supported here', 'Remove the tag.']],
  ['RESOURCE_EXHAUSTION', ['the file is nested too deeply', null]],
])

function explain(fault: YAMLError): readonly [message: string, hint: string | null] {
  const detail = fault.message.split('\n')[0]?.slice(0, 120) ?? ''
  if (/end with a [\]}]/.test(detail))
    return [`a ${detail.endsWith(']') ? '[' : '{'} is not closed`, null]
  if (/closing ["']quote/.test(detail)) return ['a quoted text is not closed', null]
  if (/at node end/.test(detail))
    return [
      'there is something behind the end of a value',
      'Put the value in quotes, such as "[::1]:3360".',
    ]
  return explanations.get(fault.code) ?? [`not valid YAML (${detail})`, null]
}

function problemAt(position: Position | null, message: string, hint: string | null): Problem {
  const { line, column } = position ?? { line: null, column: null }
  return { severity: 'error', path: '', line, column, message, hint }
}
