// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import type { SpecDocument } from './document.ts'
import { nearest } from '../config/nearest.ts'
import type { SpecProblem } from './spec-error.ts'

type Issue = z.core.$ZodIssue
type Path = readonly (string | number)[]

/** An object that takes no other keys, and says which it takes. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `Known keys: ${known.join(', ')}.` : undefined,
  })
}

/** Checks a document; gives its value as the schema has it, or what is wrong with it. */
export function checkDocument<Schema extends z.ZodType>(
  document: SpecDocument,
  schema: Schema,
  value: unknown = document.value,
  at: Path = [],
): { readonly value: z.output<Schema> } | { readonly problems: readonly SpecProblem[] } {
  const checked = schema.safeParse(value, { reportInput: true })
  if (checked.success) return { value: checked.data }
  return { problems: checked.error.issues.flatMap((issue) => describe(issue, document, at)) }
}

function describe(issue: Issue, document: SpecDocument, outer: Path): SpecProblem[] {
  const at: Path = [
    ...outer,
    ...issue.path.map((key) => (typeof key === 'number' ? key : String(key))),
  ]
  const problem = (path: Path, message: string, hint: string | null): SpecProblem => ({
    file: document.file,
    line: document.line(path),
    path: pathText(path),
    message,
    hint,
  })
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const near = nearest(key, knownKeys(issue.message))
        const hint = near === null ? issue.message : `Did you mean \`${near}\`?`
        return problem([...at, key], `unknown key \`${key}\`.`, hint)
      })
    case 'invalid_union':
      if (issue.input === undefined) return [problem(at, 'is missing.', `It ${issue.message}.`)]
      return describeUnion(issue, document, at) ?? [problem(at, lowered(issue.message), null)]
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => describe(inner, document, at))
    case 'invalid_type':
      if (issue.input === undefined)
        return [problem(at, 'is missing.', `It must be ${aOrAn(issue.expected)}.`)]
      return [problem(at, `must be ${aOrAn(issue.expected)}, not ${shown(issue.input)}.`, null)]
    case 'invalid_value':
      return [
        problem(
          at,
          `must be one of ${issue.values.map(String).join(', ')}, not ${shown(issue.input)}.`,
          null,
        ),
      ]
    default:
      return [problem(at, lowered(issue.message), null)]
  }
}

/** The complaints of the one alternative that was meant: the one that has the value's type. */
function describeUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  document: SpecDocument,
  at: Path,
): SpecProblem[] | null {
  const wrongKind = (each: Issue) =>
    each.path.length === 0 && (each.code === 'invalid_type' || each.code === 'invalid_value')
  const meant = issue.errors.filter((issues) => !issues.some(wrongKind))
  const [only] = meant
  if (only === undefined || meant.length > 1) return null
  return only.flatMap((each) => describe(each, document, at))
}

function knownKeys(message: string): string[] {
  return message.replace('Known keys: ', '').replace('.', '').split(', ')
}

function pathText(path: Path): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`,
    '',
  )
}

function lowered(message: string): string {
  const text = message.charAt(0).toLowerCase() + message.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
}

function aOrAn(type: string): string {
  return typeNames[type] ?? type
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'nothing'
  if (typeof value === 'object') return 'a mapping'
  const text = JSON.stringify(value) ?? typeof value
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}
