// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LineCounter, parseDocument } from 'yaml'
import { offsetOf } from '../config/yaml/read-yaml.ts'
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
    const offset = offsetOf(parsed, path, true) ?? parsed.contents?.range[0]
    return offset === undefined ? null : counter.linePos(offset).line
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
