// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseEnv } from 'node:util'
import { variableName } from './yaml/scalar.ts'
import { type Problem, problemAt, typographicFault } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** An env file: its name for messages, and its text. */
export interface EnvFile {
  readonly name: string
  readonly text: string
  /** Variable that receives the whole text, less a final line break; null: a variable per line. */
  readonly variable?: string | null
}

/** One assignment: a name, and a double-quoted, single-quoted or bare value. */
const assignment =
  /[ \t]*(?:export[ \t]+)?([^\s=#]+)[ \t]*=(?:[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)')[ \t]*(?:[ \t]#[^\n]*)?|(?![ \t]*["'])([^\n]*))(?=\n|$)/y
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/**
 * Layers an environment over env files. Later files override earlier ones.
 * @returns the variables, and the problems in the files; no problem quotes a value
 */
export function layerEnvironment(
  environment: Environment,
  files: readonly EnvFile[],
): { readonly environment: Environment; readonly problems: readonly Problem[] } {
  const variables = new Map<string, string>()
  const problems = files.flatMap((file) => readEnvFile(file, variables))
  // Node also parses --env-file, and cuts values at "#". Values that it set this way are ignored.
  const ofLines = files.filter(({ variable }) => !variable)
  const byNode = Object.assign({}, ...ofLines.map(({ text }) => parseEnv(text))) as Environment
  // The object has no prototype, so a lookup finds only variables that were set.
  const names = Object.create(null) as Record<string, string | undefined>
  for (const [name, value] of Object.entries(environment))
    if (value !== byNode[name] || !variables.has(name)) names[name] = value
  for (const [name, value] of variables) names[name] ??= value
  return { environment: names, problems }
}

const hint = 'Lines are NAME=value; put a value with quotes or " #" in it in single quotes.'

/** Reads `NAME=value` lines into the variables. See "Env files" in the config reference. */
function readEnvFile(
  { name: file, text, variable = null }: EnvFile,
  variables: Map<string, string>,
): Problem[] {
  if (variable !== null) {
    variables.set(variable, text.replace(/\r?\n$/, ''))
    return []
  }
  const clean = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const problems: Problem[] = []
  let line = 1
  for (let at = 0; at < clean.length;) {
    const newline = clean.indexOf('\n', at)
    let end = newline === -1 ? clean.length : newline
    const written = clean.slice(at, end)
    if (!/^\s*(?:#|$)/.test(written)) {
      assignment.lastIndex = at
      const [whole = '', name = '', double, single, plain = ''] = assignment.exec(clean) ?? []
      const fault = faultOf(written, name, plain)
      if (fault === null) {
        end = at + whole.length
        variables.set(name, single ?? unescape(double) ?? plain.replace(/[ \t]#.*$/, '').trim())
      } else problems.push(problemAt('env-file', null, `line ${line} of ${file} ${fault}`, hint))
    }
    line += clean.slice(at, end).split('\n').length
    at = end + 1
  }
  return problems
}

function faultOf(line: string, name: string, plain: string): string | null {
  if (name === '' && /^[^#"']*=[ \t]*["']/.test(line))
    return 'has an unclosed quote, or text after a closing quote'
  return variableName.test(name) ? typographicFault(plain.trim()) : 'is not NAME=value'
}

function unescape(double: string | undefined): string | undefined {
  return double?.replace(/\\([^])/g, (both, letter: string) =>
    /["\\]/.test(letter) ? letter : (escapes[letter] ?? both),
  )
}
