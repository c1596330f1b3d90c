// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { nearest } from '../../proxy/config/nearest.ts'
import type { Images } from '../resources/build-children.ts'
import { digest } from '../translate/object-names.ts'
import { type Command, commands, type FlagName, flagNames, flags } from './flags.ts'

/** Values of flags, in the order given; of a flag that was not given, its default. */
export type FlagValues = Readonly<Record<FlagName, readonly string[]>>

/** A command line, taken apart. */
export interface CommandLine {
  readonly command: Command
  readonly values: FlagValues
  /** What is wrong with it, as sentences. */
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
 * Takes a command line apart: `--flag value`, `--flag=value`, `-f value`.
 *
 * @param argv without the runtime and the script
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const args = [...argv]
  const read = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const given = new Map<FlagName, string[]>()
  const ofFlags = read.tokens.flatMap((token) => {
    if (token.kind !== 'option' || token.name === 'help' || token.name === 'version') return []
    return takeFlag(token, given) ?? []
  })
  const [first, ...rest] = read.positionals
  const named = first !== undefined && Object.hasOwn(commands, first) ? (first as Command) : null
  const flag = read.values['help'] ? 'help' : read.values['version'] ? 'version' : null
  const command = flag ?? named ?? 'run'
  const ofWords = [
    ...(first === undefined || named !== null
      ? misplaced(command, given)
      : [
          `Unknown command ${JSON.stringify(first)}. ${hintOf(nearest(first, Object.keys(commands)))}`,
        ]),
    ...(rest[0] === undefined ? [] : [unexpected(rest[0], command)]),
  ]
  return {
    command,
    values: withDefaults(given),
    // Behind a flag that was not understood, a word may have been its value.
    problems: command === 'help' ? [] : ofFlags.length > 0 ? ofFlags : ofWords,
  }
}

/** The one value of a flag that has a default or was given; null otherwise. */
export function valueOf(values: FlagValues, name: FlagName): string | null {
  return values[name].at(-1) ?? null
}

interface GivenFlag {
  readonly name: string
  /** With its dashes. */
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** @returns what is wrong with it */
function takeFlag(token: GivenFlag, given: Map<FlagName, string[]>): string | null {
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
  const before = given.get(name) ?? []
  if (before.length > 0 && !repeatable) return `--${name} is given twice. Keep one of them.`
  given.set(name, [...before, text])
  return null
}

function unknownFlag({ name, rawName }: GivenFlag): string {
  return `Unknown flag ${rawName}. ${hintOf(nearest(name, [...flagNames, 'help', 'version']), '--')}`
}

function hintOf(near: string | null, dashes = ''): string {
  return near === null ? 'See rpc-operator --help.' : `Did you mean ${dashes}${near}?`
}

function unexpected(word: string, command: Command): string {
  const hint = flags.filename.of.includes(command) ? ` Write -f ${word}.` : ''
  return `Unexpected argument ${JSON.stringify(word)}.${hint}`
}

function misplaced(command: Command, given: ReadonlyMap<FlagName, unknown>): readonly string[] {
  return [...given.keys()].flatMap((name) => {
    const { of: takers } = flags[name]
    if (takers.includes(command)) return []
    return [`--${name} is not a flag of ${command}, but of ${takers.join(' and ')}.`]
  })
}

function withDefaults(given: ReadonlyMap<FlagName, readonly string[]>): FlagValues {
  const values = flagNames.map((name) => {
    const usual = flags[name].default
    return [name, given.get(name) ?? (usual === null ? [] : [usual])] as const
  })
  return Object.fromEntries(values) as FlagValues
}

/** Where a command writes. `process.stdout` is one. */
export interface TextSink {
  write(text: string): unknown
}

/** What a command has of the outer world. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The exit codes of the process. The same numbers as the router's. */
export const exitCodes = {
  /** Done; a stopped operator gave its lease back. */
  done: 0,
  /** It could not do its work: no cluster in reach, an address is taken, the lease was lost. */
  failed: 1,
  /** The command line or the manifests cannot be used as they are. */
  invalid: 2,
} as const

/** The namespaces that are named, each once; null for all of the cluster. */
export function namespacesOf({ namespaces }: FlagValues): readonly string[] | null {
  const named = [...new Set(namespaces.flatMap((list) => list.split(',')))]
  return named.length === 0 ? null : named
}

/** Images of objects that name none: the router of the operator's own version. */
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
 * The lease that an operator holds: its own for each choice of namespaces, so that operators of different
 * namespaces do not wait for each other.
 *
 * @param namespace where it is unless a flag says otherwise
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
  // No namespace has a dot in its name, so no two choices come to the same.
  const name = [usualName, ...sorted].join('.')
  return name.length <= maxNameLength ? name : `${usualName}.${digest(sorted)}`
}
