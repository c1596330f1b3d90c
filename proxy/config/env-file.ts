// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseEnv } from 'node:util'
import { variableName } from './yaml/scalar.ts'
import { type Problem, typographicFault } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** An env file: its name, for messages, and its text. */
export interface EnvFile {
  readonly name: string
  readonly text: string
}

const lineStart = /[ \t]*(?:export[ \t]+)?([^\s=#]+)[ \t]*=/y
const quotedValue = /[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)')[ \t]*(?:[ \t]#[^\n]*)?(?=\n|$)/y
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/**
 * Puts env files under an environment. The environment beats the files, and a later file beats an earlier one.
 * @returns the variables, and what is wrong with the files; no problem shows a value
 */
export function layerEnvironment(
  environment: Environment,
  files: readonly EnvFile[],
): { readonly environment: Environment; readonly problems: readonly Problem[] } {
  const variables = new Map<string, string>()
  const problems = files.flatMap((file) => readEnvFile(file, variables))
  // Node takes --env-file too where nothing keeps it from it, and cuts values at "#": those are not the environment's own.
  const byNode = Object.assign({}, ...files.map(({ text }) => parseEnv(text))) as Environment
  // Without a prototype, so that no name is found that nobody set.
  const names = Object.create(null) as Record<string, string | undefined>
  for (const [name, value] of Object.entries(environment))
    if (value !== byNode[name] || !variables.has(name)) names[name] = value
  for (const [name, value] of variables) names[name] ??= value
  return { environment: names, problems }
}

/** Reads `NAME=value` lines into the variables: see "Env files" in the reference of the config. */
function readEnvFile({ name: file, text }: EnvFile, variables: Map<string, string>): Problem[] {
  const clean = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const problems: Problem[] = []
  let line = 1
  for (let at = 0; at < clean.length;) {
    const entry = readEntry(clean, at)
    if ('fault' in entry) {
      const message = `line ${line} of ${file} ${entry.fault}`
      const hint = 'Lines are NAME=value; put a value with quotes or " #" in it in single quotes.'
      problems.push({
        severity: 'error',
        path: 'env-file',
        line: null,
        column: null,
        message,
        hint,
      })
    } else if (entry.name !== null) variables.set(entry.name, entry.value)
    line += clean.slice(at, entry.end).split('\n').length
    at = entry.end + 1
  }
  return problems
}

type Entry =
  | { readonly end: number; readonly name: string | null; readonly value: string }
  | { readonly end: number; readonly fault: string }

/** @param at where a line begins */
function readEntry(text: string, at: number): Entry {
  const lineEnd = text.indexOf('\n', at)
  const end = lineEnd === -1 ? text.length : lineEnd
  if (/^\s*(?:#|$)/.test(text.slice(at, end))) return { end, name: null, value: '' }
  lineStart.lastIndex = at
  const name = lineStart.exec(text)?.[1]
  if (name === undefined || !variableName.test(name)) return { end, fault: 'is not NAME=value' }
  const rest = text.slice(lineStart.lastIndex, end)
  const fault = typographicFault(rest.trim())
  if (fault !== null) return { end, fault }
  if (!/^[ \t]*["']/.test(rest)) return { end, name, value: rest.replace(/[ \t]#.*$/, '').trim() }
  quotedValue.lastIndex = lineStart.lastIndex
  const [, double, single = ''] = quotedValue.exec(text) ?? []
  if (quotedValue.lastIndex === 0)
    return { end, fault: 'has a quote that is not closed, or a text behind one that is' }
  const value = double?.replace(/\\([^])/g, (both, letter: string) =>
    /["\\]/.test(letter) ? letter : (escapes[letter] ?? both),
  )
  return { end: quotedValue.lastIndex, name, value: value ?? single }
}
