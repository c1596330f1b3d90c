// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { LineCounter, parseDocument } from 'yaml'
import * as z from 'zod'
import { nearest } from '../config/nearest.ts'
import { type Path, type Problem, formatPath, problemAt } from '../config/problem.ts'
import { offsetOf } from '../config/yaml/read-yaml.ts'

/** A YAML or JSON file as read: its value, and where each part of it stands. */
export interface SpecDocument {
  readonly file: string
  readonly value: unknown
  /** 1-based line of a place, or of the nearest place around it that the file has. */
  line(path: Path): number | null
}

type ParsedDocument =
  { readonly document: SpecDocument } | { readonly problems: readonly Problem[] }

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
      const message = `is not JSON: ${(cause as Error).message}`
      const [first = fileProblem(file, message)] = readYaml(file, text, message).problems
      return { problems: [first] }
    }
  }
  const { value, line, problems } = readYaml(file, text)
  return problems.length > 0 ? { problems } : { document: { file, value, line } }
}

/** @param wrong what to say of a fault of form; otherwise the parser's own words */
function readYaml(file: string, text: string, wrong?: string) {
  const counter = new LineCounter()
  const parsed = parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true })
  const problems = parsed.errors.map(({ pos, message }) =>
    specProblem(file, counter.linePos(pos[0]).line, [], wrong ?? `is not YAML: ${message}`),
  )
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

/** An object that takes no other keys, and says which it takes. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `Known keys: ${known.join(', ')}.` : undefined,
  })
}

/** Notes what is wrong at a place of a document, and what would be right. */
export type Complain = (path: Path, message: string, hint?: string | null) => void

/** Makes a `Complain` for one file that collects into `problems`. */
export function complainInto(problems: Problem[], document: SpecDocument): Complain {
  const { file } = document
  return (path, message, hint = null) =>
    problems.push(specProblem(file, document.line(path), path, message, hint))
}

/** The value of a document as the schema has it; null when something is wrong with it, which goes to `problems`. */
export function checkDocument<Schema extends z.ZodType>(
  document: SpecDocument,
  schema: Schema,
  problems: Problem[],
): z.output<Schema> | null {
  const checked = schema.safeParse(document.value, { reportInput: true })
  const complain = complainInto(problems, document)
  for (const issue of checked.error?.issues ?? []) describeIssue(issue, [], complain)
  return checked.success ? checked.data : null
}

function describeIssue(issue: z.core.$ZodIssue, outer: Path, complain: Complain): void {
  const at = [...outer, ...(issue.path as Path)]
  const message = issue.message.replace(/\.?$/, '.')
  if (issue.code === 'unrecognized_keys') {
    const known = message.replace(/^.*: |\.$/g, '').split(', ')
    for (const key of issue.keys) {
      const near = nearest(key, known)
      const hint = near === null ? message : `Did you mean \`${near}\`?`
      complain([...at, key], `unknown key \`${key}\`.`, hint)
    }
    return
  }
  // The complaints of the one alternative that was meant: the one that has the value's type.
  const [meant, ...others] =
    issue.code === 'invalid_union'
      ? issue.errors.filter((issues) => !issues.some(isOfWrongType))
      : []
  const isKey = issue.code === 'invalid_key' || issue.code === 'invalid_element'
  const inner = isKey ? issue.issues : others.length === 0 ? meant : undefined
  if (inner !== undefined) for (const each of inner) describeIssue(each, at, complain)
  else if (issue.input === undefined)
    complain(at, 'is missing.', message.replace(/^must/, 'It must'))
  else complain(at, message)
}

function isOfWrongType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

/** Chain specs that cannot be used: all problems of all files. */
export class SpecError extends Error {
  override readonly name = 'SpecError'
  readonly code = 'RPC_SPEC'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    const lines = problems.map(({ message, hint }) =>
      hint === null ? message : `${message} ${hint}`,
    )
    super(lines.join('\n'), options)
    this.problems = problems
  }
}

/**
 * A problem of a spec file, told as one of the setting that names the file.
 * @param file path, URL, or place in an archive; never with a URL's user, password or query
 * @param line 1-based; null where the file has no such place
 */
function specProblem(
  file: string,
  line: number | null,
  path: Path,
  message: string,
  hint: string | null = null,
): Problem {
  const place = line === null ? file : `${file}:${line}`
  const told = [place, formatPath(path), message].filter((part) => part !== '')
  return problemAt('use-static-spec', null, told.join(': '), hint)
}

/** A problem of a spec file as a whole. */
export function fileProblem(file: string, message: string, hint: string | null = null): Problem {
  return specProblem(file, null, [], message, hint)
}
