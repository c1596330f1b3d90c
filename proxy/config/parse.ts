// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { buildRouterConfig } from './build.ts'
import { checkAddresses, checkEntries, checkSharing } from './checks.ts'
import { type Entries, entriesOf, parsePartly, type Partly, secretsIn } from './entries.ts'
import { explainIssues } from './explain.ts'
import { gather, type Locate, orderProblems, type Problem } from './problem.ts'
import { hiddenInLogs } from './secret.ts'
import { type ConfigFile, configSchema } from './schema.ts'
import { type FlagValues, type SettingName, settingNames, settings } from './settings.ts'
import type { RouterConfig } from './types.ts'
import { readYaml } from './yaml/read-yaml.ts'
import { Scalar, type TreeMap } from './yaml/scalar.ts'

/** What a config depends on besides its file. */
export interface ParseOptions {
  /** Variables for placeholders and for settings: the environment, with the env files under it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: FlagValues
}

/** The result of parsing a config file. Can be printed whole without showing a secret. */
export interface ParsedConfig {
  /** Null when there is at least one error among `problems`. */
  readonly config: RouterConfig | null
  /** Errors and warnings, in the order of the file. */
  readonly problems: readonly Problem[]
  /** The file with flags, variables and defaults, as far as it can be read. */
  readonly file: Partly<ConfigFile>
  /** Listeners and upstreams, known as far as they can be read even when something else is wrong. */
  readonly entries: Entries
  /** Files, directories or URLs of chain specs; empty for the bundled ones. */
  readonly specSources: readonly string[]
  /** The position of a path such as `endpoints[0].chain-id`, or of the nearest one around it. */
  readonly locate: Locate
  /** The values that must not be printed. */
  readonly hidden: () => readonly string[]
}

/**
 * Reads, renders, checks and completes a config file. Reports every problem at once; never throws.
 *
 * @param source the text of the file, or why there is none: then the rest is what flags and environment say
 */
export function parseConfig(
  source: string | readonly Problem[],
  options: ParseOptions,
): ParsedConfig {
  const yaml =
    typeof source === 'string'
      ? readYaml(source, options.environment)
      : { tree: null, problems: source, filledIn: [], locate: () => null }
  const { locate } = yaml
  const given = givenSettings(options)
  const tree = withSettings(yaml.tree, given)
  const { value: file, issues } = parsePartly(configSchema, tree)
  const entries = entriesOf(file)
  // Of a file that cannot be read nothing is missing.
  const reported = yaml.tree
    ? issues
    : issues.filter(({ path: [key] }) => given.has(key as SettingName))
  const problems = orderProblems([
    ...yaml.problems,
    ...explainIssues(reported, tree, locate, (key) => given.get(key as SettingName)?.source),
    ...gather(locate, (report) => {
      checkEntries(entries, report)
      checkSharing(file, report)
      checkAddresses(entries, file['metrics-listen-address'] ?? null, locate, report)
    }),
  ])
  const usable = yaml.tree !== null && problems.every(({ severity }) => severity !== 'error')
  return {
    config: usable ? buildRouterConfig(file as ConfigFile) : null,
    problems,
    file,
    entries,
    specSources: wholeList(file['use-static-spec']),
    locate,
    hidden: () => [...yaml.filledIn, ...hiddenInLogs(secretsIn(file))],
  }
}

/** The env files that a config names, by flags or in the file: they must be read before it is parsed. */
export function envFilesOf(text: string, flags: FlagValues): readonly string[] {
  const environment = {}
  const tree = withSettings(readYaml(text, environment).tree, givenSettings({ environment, flags }))
  return wholeList(parsePartly(configSchema, tree).value['env-file'])
}

function wholeList(list: readonly (string | undefined)[] = []): readonly string[] {
  return list.filter((each) => each !== undefined)
}

/** What a flag or a variable says of a setting. */
interface Given {
  /** `--strategy`, `SR_LOG_LEVEL`. */
  readonly source: string
  readonly texts: readonly string[]
}

/** A flag beats a variable, and both beat the file. */
function givenSettings({ flags, environment }: ParseOptions): ReadonlyMap<SettingName, Given> {
  const given = new Map<SettingName, Given>()
  for (const name of settingNames) {
    const { variable } = settings[name]
    const value = variable === null ? undefined : environment[variable]
    const flag = flags[name]
    if (flag !== undefined) given.set(name, { source: `--${name}`, texts: flag })
    else if (variable && value) given.set(name, { source: variable, texts: [value] })
  }
  return given
}

/** The file with the defaults under it, and over it what flags and variables say. */
function withSettings(file: TreeMap | null, given: ReadonlyMap<SettingName, Given>): TreeMap {
  const defaults = settingNames.flatMap((name) => {
    const { default: text } = settings[name]
    return text === null ? [] : [[name, new Scalar(text)] as const]
  })
  const over = [...given].map(([name, { texts }]) => {
    const scalars = texts.map((text) => new Scalar(text))
    return [name, settings[name].repeatable ? scalars : (scalars.at(-1) ?? null)] as const
  })
  return { ...Object.fromEntries(defaults), ...file, ...Object.fromEntries(over) }
}
