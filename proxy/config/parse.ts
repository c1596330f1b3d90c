// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { buildRouterConfig } from './build.ts'
import type { ChainUse } from './check-chains.ts'
import { type ChainIdOf, checkAddresses, checkEntries, checkServing } from './checks.ts'
import { chainUsesOf, entriesOf, secretsOf, type TlsSection, tlsSectionsOf } from './entries.ts'
import { explainIssues } from './explain.ts'
import { parsePartly } from './partial.ts'
import { gather, type Locate, orderProblems } from './problem.ts'
import { type Problem, problemAt } from './problem.ts'
import { Settings } from './resolve.ts'
import { createRedactor, hiddenInLogs } from './secret.ts'
import { type ConfigFile, configSchema } from './schema.ts'
import type { FlagValues } from './settings.ts'
import type { LogFormat, LogLevel, RouterConfig } from './types.ts'
import { renderPlaceholders } from './yaml/scalar.ts'
import { readYaml, type YamlFile } from './yaml/read-yaml.ts'
import { isMap, type Tree } from './yaml/scalar.ts'

/** A config file as it was read: its name, for messages, and its text. */
export interface ConfigSource {
  readonly name: string
  readonly text: string
}

/** What a config depends on besides its file. */
export interface ParseOptions {
  /** Variables for placeholders and for settings: the environment, with the env files under it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: FlagValues
}

/** How the process logs: known even when the rest of the file is wrong. */
export interface LoggingConfig {
  readonly level: LogLevel
  readonly format: LogFormat
}

/** What came of a config file. Can be printed whole without telling a secret. */
export interface ParsedConfig {
  /** Null when there is at least one error among `problems`. */
  readonly config: RouterConfig | null
  readonly logging: LoggingConfig
  /** Errors and warnings, in the order of the file, save for those of `checkServing`. */
  readonly problems: readonly Problem[]
  /** What the file wants of chain specs, known even when something else in it is wrong. */
  readonly chainUses: readonly ChainUse[]
  /** Files, directories or URLs of chain specs; empty for the bundled ones. */
  readonly specSources: readonly string[]
  /** The TLS files that upstreams name, known likewise. */
  readonly tlsSections: readonly TlsSection[]
  /** Where a place such as `endpoints[0].chain-id`, or the nearest around it, stands. */
  readonly locate: Locate
  /** What is wrong between listeners and upstreams, which only who knows the chains can tell. */
  readonly checkServing: (chainIdOf: ChainIdOf) => readonly Problem[]
  /** Takes every value out of a text that must not be printed. */
  readonly redact: (text: string) => string
}

/** Reads, renders, checks and completes a config file. Reports every problem at once; never throws. */
export function parseConfig(source: ConfigSource, options: ParseOptions): ParsedConfig {
  return judge(readFile(source.text, options.environment), options)
}

/** A config that could not even be read, with what is known from flags and environment. */
export function unreadableConfig(
  problems: readonly Problem[],
  options: ParseOptions,
): ParsedConfig {
  const nowhere = () => null
  return judge({ tree: null, problems, values: [], locate: nowhere, locateKey: nowhere }, options)
}

function judge(yaml: RenderedFile, { environment, flags }: ParseOptions): ParsedConfig {
  const { tree, locate } = yaml
  const { value: file, issues } = readTree(tree)
  const entries = entriesOf(file)
  const settings = new Settings(file, flags, environment)
  const problems = orderProblems([
    ...yaml.problems,
    ...settings.problems(),
    ...explainIssues(issues, yaml),
    ...gather(locate, (report) => {
      checkEntries(entries, report)
      checkAddresses(entries, settings.get('metrics-listen-address'), locate, report)
    }),
  ])
  const usable = isMap(tree) && problems.every(({ severity }) => severity !== 'error')
  return {
    config: usable ? buildRouterConfig(file as ConfigFile, settings) : null,
    logging: { level: settings.get('log-level'), format: settings.get('log-format') },
    problems,
    chainUses: chainUsesOf(entries),
    specSources: settings.list('use-static-spec'),
    tlsSections: tlsSectionsOf(entries),
    locate,
    checkServing: (chainIdOf) =>
      gather(locate, (report) => checkServing(entries, chainIdOf, locate, report)),
    redact: createRedactor([...yaml.values, ...hiddenInLogs(secretsOf(entries))]),
  }
}

function readTree(tree: Tree) {
  return isMap(tree) ? parsePartly(configSchema, tree) : { value: {}, issues: [] }
}

/** The env files that a config names, by flags or in the file: they must be read before it is parsed. */
export function envFilesOf(source: ConfigSource, flags: FlagValues): readonly string[] {
  // Most files name none, and need not be read for it.
  const named = source.text.includes('env-file') && flags['env-file'] === undefined
  const tree = named ? readFile(source.text, {}).tree : null
  return new Settings(readTree(tree).value, flags, {}).list('env-file')
}

interface RenderedFile extends YamlFile {
  /** Values that placeholders gave. */
  readonly values: readonly string[]
}

/** Reads the YAML and renders the placeholders in it. */
function readFile(text: string, environment: ParseOptions['environment']): RenderedFile {
  const values: string[] = []
  const found = new Map<string, Problem>()
  const yaml = readYaml(text, (written, position, path) => {
    const { scalar, missing, malformed } = renderPlaceholders(written, environment)
    values.push(...scalar.filledIn())
    const report = (key: string, message: string, hint: string) =>
      found.set(key, found.get(key) ?? problemAt(path(), position, message, hint))
    if (malformed) report(path(), 'a placeholder is not well formed', malformedHint)
    for (const name of missing) {
      const state = environment[name] === '' ? 'is empty' : 'is not set'
      report(`\${${name}}`, `the variable ${name} ${state}`, unsetVariableHint)
    }
    return scalar
  })
  if (!isMap(yaml.tree) && yaml.problems.length === 0 && found.size === 0)
    found.set('', problemAt('', { line: 1, column: 1 }, notMap, notMapHint))
  return { ...yaml, problems: [...yaml.problems, ...found.values()], values }
}

const notMap = 'the top level of the file is not a map'
const notMapHint = 'It begins with keys such as endpoints: and direct-rpc:.'

const malformedHint =
  'Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.'

/** What a person at a terminal can do for a variable that is not set. */
export const unsetVariableHint = 'Set it in the environment or in an env file (--env-file).'
