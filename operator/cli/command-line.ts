// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { nearest } from '../../proxy/config/nearest.ts'
import type { Images } from '../resources/build-children.ts'
import { digest } from '../translate/object-names.ts'
import { type Command, commands, type FlagName, flagNames, flags } from './flags.ts'

/** Values of flags, in order. A flag that is not set has its default. */
export type FlagValues = Readonly<Record<FlagName, readonly string[]>>

/** A parsed command line. */
export interface CommandLine {
  readonly command: Command
  readonly values: FlagValues
  /** Faults, each a sentence. */
  readonly problems: readonly string[]
}

const options = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  ...Object.fromEntries(
    flagNames.map((name) => {
      const { short } = flags[name]
      return [name, { type: 'string' as const, multiple: true, ...(short !== null && { short }) }]
    }),
  ),
} as const

/**
 * Parses a command line: `--flag value`, `--flag=value`, `-f value`.
 * @param argv without the runtime and the script
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const args = [...argv]
  const read = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const parsed = new Map<FlagName, string[]>()
  const ofFlags = read.tokens.flatMap((token) => {
    if (token.kind !== 'option' || token.name === 'help' || token.name === 'version') return []
    return takeFlag(token, parsed) ?? []
  })
  const [first, ...rest] = read.positionals
  const named = first !== undefined && Object.hasOwn(commands, first) ? (first as Command) : null
  const flag = read.values['help'] ? 'help' : read.values['version'] ? 'version' : null
  const command = flag ?? named ?? 'run'
  const ofWords = [
    ...(first === undefined || named !== null
      ? misplaced(command, parsed)
      : [
          `Unknown command ${JSON.stringify(first)}. ${hintOf(nearest(first, Object.keys(commands)))}`,
        ]),
    ...(rest[0] === undefined ? [] : [unexpected(rest[0], command)]),
  ]
  return {
    command,
    values: withDefaults(parsed),
    // A word after an invalid flag may be its value, so such words are not reported.
    problems: command === 'help' ? [] : ofFlags.length > 0 ? ofFlags : ofWords,
  }
}

/** Returns the last value of a flag, or its default; null if it has neither. */
export function valueOf(values: FlagValues, name: FlagName): string | null {
  return values[name].at(-1) ?? null
}

interface FlagToken {
  readonly name: string
  /** Name with its dashes. */
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** Adds a flag's value. @returns what is wrong with it; null if valid */
function takeFlag(token: FlagToken, parsed: Map<FlagName, string[]>): string | null {
  const { rawName, value = '', inlineValue = false } = token
  const name = flagNames.find((known) => known === token.name)
  if (name === undefined) return unknownFlag(token)
  const { fault, repeatable, valueName } = flags[name]
  if (!inlineValue && /^(?:$|-.)/.test(value))
    return `--${name} has no value. Write --${name} <${valueName}>.`
  const text = rawName.startsWith('--') ? value : value.replace(/^=/, '')
  if (text === '') return `--${name} must have a value.`
  const why = fault(text)
  if (why !== null) return `--${name} ${JSON.stringify(text.slice(0, 80))} ${why}.`
  const before = parsed.get(name) ?? []
  if (before.length > 0 && !repeatable) return `--${name} occurs twice. Keep one of them.`
  parsed.set(name, [...before, text])
  return null
}

function unknownFlag({ name, rawName }: FlagToken): string {
  return `Unknown flag ${rawName}. ${hintOf(nearest(name, [...flagNames, 'help', 'version']), '--')}`
}

function hintOf(near: string | null, dashes = ''): string {
  return near === null ? 'See rpc-operator --help.' : `Did you mean ${dashes}${near}?`
}

function unexpected(word: string, command: Command): string {
  const hint = flags.filename.of.includes(command) ? ` Write -f ${word}.` : ''
  return `Unexpected argument ${JSON.stringify(word)}.${hint}`
}

/** Formats `a, b and c`. */
const listFormat = new Intl.ListFormat('en-GB')

function misplaced(command: Command, parsed: ReadonlyMap<FlagName, unknown>): readonly string[] {
  return [...parsed.keys()].flatMap((name) => {
    const { of: takers } = flags[name]
    if (takers.includes(command)) return []
    return [`--${name} is a flag of ${listFormat.format(takers)}, not of ${command}.`]
  })
}

function withDefaults(parsed: ReadonlyMap<FlagName, readonly string[]>): FlagValues {
  const values = flagNames.map((name) => {
    const usual = flags[name].default
    return [name, parsed.get(name) ?? (usual === null ? [] : [usual])] as const
  })
  return Object.fromEntries(values) as FlagValues
}

/** Output of a command, such as `process.stdout`. */
export interface TextSink {
  write(text: string): unknown
}

export interface CommandIo {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Exit codes of the process, the same as the router's. */
export const exitCodes = {
  /** Success; a stopped operator has released its lease. */
  done: 0,
  /** Failure: the cluster was unreachable, an address was in use, or the lease was lost. */
  failed: 1,
  /** The command line or the manifests are invalid. */
  invalid: 2,
} as const

/** Returns the distinct namespaces in the flag; null for the whole cluster. */
export function namespacesOf({ namespaces }: FlagValues): readonly string[] | null {
  const named = [...new Set(namespaces.flatMap((list) => list.split(',')))]
  return named.length === 0 ? null : named
}

/** Returns the default images. The router's has the version of the operator. */
export function imagesOf(values: FlagValues, version: string): Images {
  return {
    router: valueOf(values, 'router-image') ?? `rpc-router:${version}`,
    redis: valueOf(values, 'redis-image') ?? 'redis:8.2-alpine',
    pullSecrets: valueOf(values, 'image-pull-secrets')?.split(',') ?? [],
  }
}

const usualName = 'rpc-router-operator'
/** In a longer name, a hash replaces the namespaces. */
const maxNameLength = 100

/**
 * Returns the operator's lease. Its name depends on the namespaces, so that operators of different
 * namespaces do not wait for each other.
 * @param namespace default namespace of the lease
 */
export function leaseOf(
  values: FlagValues,
  namespace: string,
): { readonly namespace: string; readonly name: string } {
  return {
    namespace: valueOf(values, 'lease-namespace') ?? namespace,
    name: valueOf(values, 'lease-name') ?? nameFor(namespacesOf(values)),
  }
}

function nameFor(namespaces: readonly string[] | null): string {
  if (namespaces === null) return usualName
  const sorted = namespaces.toSorted()
  // Names of namespaces have no dots, so different sets have different names.
  const name = [usualName, ...sorted].join('.')
  return name.length <= maxNameLength ? name : `${usualName}.${digest(sorted)}`
}
