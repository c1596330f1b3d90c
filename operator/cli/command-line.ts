// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nearest } from '../../proxy/config/nearest.ts'
import {
  type Command,
  commands,
  type Flag,
  type FlagName,
  flagNames,
  flags,
  shortFlags,
} from './flags.ts'

/** Values of flags, in the order given; of a flag that was not given, its default. */
export type FlagValues = Readonly<Record<FlagName, readonly string[]>>

/** A command line, taken apart. */
export interface CommandLine {
  readonly command: Command
  readonly values: FlagValues
  /** What is wrong with it, as sentences. */
  readonly problems: readonly string[]
}

/**
 * Takes a command line apart: `--flag value`, `--flag=value`, `-f value`.
 *
 * @param argv without the runtime and the script
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const reader = new ArgumentReader(argv)
  reader.read()
  const [first, ...rest] = reader.words
  const problems = [...reader.problems]
  const named = first !== undefined && Object.hasOwn(commands, first) ? (first as Command) : null
  const command = reader.asked ?? named ?? 'run'
  if (first !== undefined && named === null) problems.push(unknownCommand(first))
  else problems.push(...misplaced(command, reader.given))
  if (rest[0] !== undefined) problems.push(unexpected(rest[0], command))
  return {
    command,
    values: withDefaults(reader.given),
    problems: command === 'help' ? [] : problems,
  }
}

/** The one value of a flag that has a default or was given; null otherwise. */
export function valueOf(values: FlagValues, name: FlagName): string | null {
  return values[name].at(-1) ?? null
}

class ArgumentReader {
  readonly words: string[] = []
  readonly given = new Map<FlagName, string[]>()
  readonly problems: string[] = []
  /** A command that was asked for by a flag. */
  asked: Command | null = null
  readonly #argv: readonly string[]
  #at = 0

  constructor(argv: readonly string[]) {
    this.#argv = argv
  }

  read(): void {
    while (this.#at < this.#argv.length) {
      const argument = this.#argv[this.#at++] ?? ''
      if (argument === '-h' || argument === '--help') this.asked = 'help'
      else if (argument === '-v' || argument === '--version') this.asked ??= 'version'
      else if (!argument.startsWith('-') || argument === '-') this.words.push(argument)
      else this.#readFlag(argument)
    }
  }

  #readFlag(argument: string): void {
    const [, dashes = '', written = '', , value] = /^(--?)([^=]*)(=(.*))?$/s.exec(argument) ?? []
    const given = argument.includes('=') ? (value ?? '') : null
    const name = dashes === '-' ? shortFlags[written] : flagNames.find((known) => known === written)
    if (name === undefined) {
      this.problems.push(unknownFlag(dashes + written, written))
      // The next argument may have been its value: nobody can tell, so it is not taken for a command.
      if (given === null && this.#nextIsValue()) this.#at++
      return
    }
    this.#take(name, given ?? this.#takeValue(name))
  }

  #take(name: FlagName, value: string | null): void {
    if (value === null) return
    const { fault, repeatable }: Flag = flags[name]
    const why = value === '' ? 'must have a value' : fault(value)
    if (why !== null) this.problems.push(`--${name} ${quoted(value)}${why}.`)
    const values = this.given.get(name)
    if (values === undefined) this.given.set(name, [value])
    else if (repeatable) values.push(value)
    else this.problems.push(`--${name} is given twice. Keep one of them.`)
  }

  #takeValue(name: FlagName): string | null {
    if (this.#nextIsValue()) return this.#argv[this.#at++] ?? ''
    this.problems.push(`--${name} has no value. Write --${name} <${flags[name].valueName}>.`)
    return null
  }

  #nextIsValue(): boolean {
    const next = this.#argv[this.#at]
    return next !== undefined && (next === '-' || !next.startsWith('-'))
  }
}

function quoted(value: string): string {
  return value === '' ? '' : `${JSON.stringify(value.slice(0, 80))} `
}

function unknownFlag(flag: string, name: string): string {
  const near = nearest(name, [...flagNames, 'help', 'version'])
  return `Unknown flag ${flag}. ${near === null ? 'See rpc-operator --help.' : `Did you mean --${near}?`}`
}

function unknownCommand(word: string): string {
  const near = nearest(word, Object.keys(commands))
  const hint = near === null ? 'See rpc-operator --help.' : `Did you mean ${near}?`
  return `Unknown command ${JSON.stringify(word)}. ${hint}`
}

function unexpected(word: string, command: Command): string {
  const hint = flags.filename.of.some((taker) => taker === command) ? ` Write -f ${word}.` : ''
  return `Unexpected argument ${JSON.stringify(word)}.${hint}`
}

function misplaced(command: Command, given: ReadonlyMap<FlagName, unknown>): readonly string[] {
  return [...given.keys()].flatMap((name) => {
    const { of: takers }: Flag = flags[name]
    if (takers.includes(command)) return []
    return [`--${name} is not a flag of ${command}, but of ${takers.join(' and ')}.`]
  })
}

function withDefaults(given: ReadonlyMap<FlagName, readonly string[]>): FlagValues {
  const values = flagNames.map((name) => {
    const fallback = flags[name].default
    return [name, given.get(name) ?? (fallback === null ? [] : [fallback])] as const
  })
  return Object.fromEntries(values) as unknown as FlagValues
}
