// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Document, LineCounter } from 'yaml'
import * as z from 'zod'
import '../config/issue-words.ts'
import { nearest } from '../config/nearest.ts'
import { type Path, type Problem, formatPath, problemAt } from '../config/problem.ts'
import { isTooDeep, parseYaml, tooDeep } from '../config/yaml/parse-yaml.ts'
import { offsetOf } from '../config/yaml/read-yaml.ts'

/** A parsed YAML or JSON file. */
export interface SpecDocument {
  readonly value: unknown
  readonly complain: Complain
}

/** Reports a problem at a path of a document, and its remedy. */
export type Complain = (path: Path, message: string, hint?: string | null) => void

/**
 * Parses a YAML or JSON document, or reports a syntax error.
 * @param problems receives the complaints of `complain`
 */
export function parseSpecDocument(
  file: string,
  text: string,
  problems: Problem[],
): SpecDocument | Problem {
  const isJson = file.endsWith('.json')
  const counter = new LineCounter()
  const lineAt = (offset: number | undefined) =>
    offset === undefined ? null : counter.linePos(offset).line
  // The YAML parser is slower; for JSON it only locates errors.
  let parsed: Document | null = null
  const asYaml = () => (parsed ??= parseYaml(text, { lineCounter: counter, merge: true }))
  const complain: Complain = (path, message, hint = null) => {
    const document = asYaml()
    const offset = offsetOf(document, path, true) ?? document.contents?.range?.[0]
    problems.push(specProblem(file, lineAt(offset), path, message, hint))
  }
  try {
    if (isJson) {
      const value = JSON.parse(text) as unknown
      if (isTooDeep(value)) throw new SyntaxError(tooDeep)
      return { value, complain }
    }
    const document = asYaml()
    if (document.errors[0] !== undefined) throw document.errors[0]
    return { value: document.toJS({ maxAliasCount: 50 }) as unknown, complain }
  } catch (cause) {
    // One mistake causes several errors; the first is the clearest.
    const line = lineAt(asYaml().errors[0]?.pos[0])
    const message = `is not ${isJson ? 'JSON' : 'YAML'}: ${(cause as Error).message}`
    return specProblem(file, line, [], message)
  }
}

/** An object that rejects unknown keys. The error lists the known ones. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? known.join(', ') : undefined),
  })
}

/** Parses a document with a schema. Returns null after a complaint. */
export function checkDocument<Schema extends z.ZodType>(
  { value, complain }: SpecDocument,
  schema: Schema,
): z.output<Schema> | null {
  const checked = schema.safeParse(value, { reportInput: true })
  for (const issue of checked.error?.issues ?? []) describeIssue(issue, [], complain)
  return checked.success ? checked.data : null
}

function describeIssue(issue: z.core.$ZodIssue, outer: Path, complain: Complain): void {
  const at = [...outer, ...(issue.path as Path)]
  const message = issue.message.replace(/\.?$/, '.')
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(', ')
    for (const key of issue.keys) {
      const near = nearest(key, known)
      const hint = near === null ? `Known keys: ${message}` : `Did you mean \`${near}\`?`
      complain([...at, key], `unknown key \`${key}\`.`, hint)
    }
    return
  }
  // Reports only the union alternative whose type fits, because the author likely meant that one.
  const meant =
    issue.code === 'invalid_union'
      ? issue.errors.find((issues) => !issues.some(isOfWrongType))
      : undefined
  const inner = issue.code === 'invalid_key' ? issue.issues : meant
  if (inner !== undefined) for (const each of inner) describeIssue(each, at, complain)
  else if (issue.input === undefined)
    complain(at, 'is missing.', message.replace(/^(is missing: )?must/, 'It must'))
  else complain(at, message)
}

function isOfWrongType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

/** All problems of all spec files. */
export class SpecError extends Error {
  override readonly name = 'SpecError'
  readonly code = 'RPC_SPEC'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ message, hint }) =>
      hint === null ? message : `${message} ${hint}`,
    )
    super(lines.join('\n'))
    this.problems = problems
  }
}

/**
 * A problem in a spec file, reported at the setting that names the file.
 * @param file path, URL or archive entry, without the user, password or query of a URL
 * @param line starts at 1; null if the path is not in the file
 */
function specProblem(
  file: string,
  line: number | null,
  path: Path,
  message: string,
  hint: string | null = null,
): Problem {
  const place = line === null ? file : `${file}:${line}`
  const parts = [place, formatPath(path), message].filter((part) => part !== '')
  return problemAt('use-static-spec', null, parts.join(': '), hint)
}

/** A problem that concerns a spec file as a whole. */
export function fileProblem(file: string, message: string, hint: string | null = null): Problem {
  return specProblem(file, null, [], message, hint)
}
