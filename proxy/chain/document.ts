// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LineCounter, isNode, parseDocument } from 'yaml'
import { fileProblem } from './spec-error.ts'
import type { SpecProblem } from './spec-error.ts'

type Path = readonly (string | number)[]

/** A YAML or JSON file as read: its value, and where each part of it stands. */
export interface SpecDocument {
  readonly file: string
  readonly value: unknown
  /** 1-based line of a place, or of the nearest place around it that the file has. */
  line(path: Path): number | null
}

type ParsedDocument =
  { readonly document: SpecDocument } | { readonly problems: readonly SpecProblem[] }

/** Reads one YAML or JSON document. */
export function parseSpecDocument(file: string, text: string): ParsedDocument {
  if (file.endsWith('.json')) {
    try {
      const value: unknown = JSON.parse(text)
      // Lines are wanted only when something is wrong: the slower parser runs only then.
      let lines: ((path: Path) => number | null) | null = null
      return {
        document: { file, value, line: (path) => (lines ??= readYaml(file, text).line)(path) },
      }
    } catch (cause) {
      const { problems } = readYaml(file, text)
      const message = `is not JSON: ${(cause as Error).message}`
      return { problems: [problems[0] ? { ...problems[0], message } : fileProblem(file, message)] }
    }
  }
  const { value, line, problems } = readYaml(file, text)
  return problems.length > 0 ? { problems } : { document: { file, value, line } }
}

function readYaml(file: string, text: string) {
  const counter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true })
  const problems: SpecProblem[] = parsed.errors.map((error) => ({
    file,
    line: counter.linePos(error.pos[0]).line,
    path: '',
    message: `is not YAML: ${error.message}`,
    hint: null,
  }))
  const line = (path: Path): number | null => {
    for (let length = path.length; length >= 0; length--) {
      const node = keyOrValue(parsed, path.slice(0, length))
      if (node) return counter.linePos(node[0]).line
    }
    return null
  }
  let value: unknown = null
  if (problems.length === 0)
    try {
      value = parsed.toJS({ maxAliasCount: 50 })
    } catch (cause) {
      problems.push(fileProblem(file, `cannot be read: ${(cause as Error).message}.`))
    }
  return { value, line, problems }
}

/** Start of a place: that of its key where it has one. */
function keyOrValue(parsed: ReturnType<typeof parseDocument>, path: Path) {
  const last = path.at(-1)
  const parent: unknown = path.length === 0 ? null : parsed.getIn(path.slice(0, -1), true)
  if (isNode(parent) && 'items' in parent)
    for (const item of parent.items as { key?: unknown }[])
      if (isNode(item.key) && String(item.key) === String(last)) return item.key.range ?? null
  const node: unknown = path.length === 0 ? parsed.contents : parsed.getIn(path, true)
  return isNode(node) ? (node.range ?? null) : null
}
