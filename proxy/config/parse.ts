// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { buildRouterConfig } from './build.ts'
import type { KnownChains } from './checks/check-chains.ts'
import { checkAddresses, checkEntries, checkSharing } from './checks/checks.ts'
import { completeTree, interfacesOf } from './complete.ts'
import { type Entries, entriesOf, parsePartly, secretsIn } from './entries.ts'
import { explainIssues } from './explain.ts'
import { gather, type Locate, orderProblems, type Problem } from './problem.ts'
import { hiddenInLogs } from './secret.ts'
import { type ConfigFile, configSchema } from './schema.ts'
import { type FlagValues, type SettingName, settingNames, settings } from './settings.ts'
import type { RouterConfig } from './types.ts'
import { readYaml } from './yaml/read-yaml.ts'
import { isList, Scalar, type TreeMap } from './yaml/scalar.ts'
import { type Partly } from './partly.ts'

const skipSockets = 'skip-websocket-verification'

/** Inputs of a config other than its file. */
export interface ParseOptions {
  /** Variables for placeholders and settings: the environment layered over env files. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly flags: FlagValues
  /** Chains from which to complete a short config; absent: the file must be in its long form. */
  readonly chains?: KnownChains | null
}

/** Result of parsing a config file. Printing it shows no secret. */
export interface ParsedConfig {
  /** Null if `problems` contains an error. */
  readonly config: RouterConfig | null
  /** Errors and warnings, in file order. */
  readonly problems: readonly Problem[]
  /** The long form as written: merged with flags, variables and defaults, and completed. */
  readonly tree: TreeMap
  /** The same, parsed, without its unreadable parts. */
  readonly file: Partly<ConfigFile>
  /** Readable listeners and upstreams, even if other parts are invalid. */
  readonly entries: Entries
  /** Files, directories or URLs of chain specs; empty: use the bundled specs. */
  readonly specSources: readonly string[]
  /** Locates a path such as `endpoints[0].chain-id`, or its nearest ancestor. */
  readonly locate: Locate
  /** Whether a short config leaves open what to do without a WebSocket URL. */
  readonly impliesNoSockets: boolean
  /** Values that must never be printed. */
  readonly hidden: () => readonly string[]
}

/**
 * Parses, renders, validates and completes a config file. Reports all problems; never throws.
 *
 * @param source the file's text, or why it is missing; then only flags and environment count
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
  const overrides = overridesOf(options)
  const isWritten = (key: string) => yaml.tree?.[key] !== undefined
  const isShort = Boolean(options.chains && yaml.tree) && !isWritten('endpoints')
  const impliesNoSockets = isShort && !overrides.has(skipSockets) && !isWritten(skipSockets)
  const implied = impliesNoSockets && { [skipSockets]: new Scalar('true') }
  const tree = completeTree(
    { ...withSettings(yaml.tree, overrides), ...implied },
    (yaml.tree && options.chains) ?? null,
  )
  const { value: file, issues } = parsePartly(configSchema, tree)
  const entries = entriesOf(file)
  const hasNone = isList(tree['direct-rpc']) && tree['direct-rpc'].length === 0
  const reported = issues.flatMap((issue) => {
    const [key, ...below] = issue.path
    // Missing keys of an unreadable file are not reported.
    if (yaml.tree === null) return overrides.has(key as SettingName) ? issue : []
    // Without listeners, something is wrong with the upstreams.
    if (!isShort || key !== 'endpoints' || below.length > 0) return issue
    return hasNone ? { ...issue, path: ['direct-rpc'] } : []
  })
  const problems = orderProblems([
    ...yaml.problems,
    ...explainIssues(
      reported,
      tree,
      locate,
      (key) => overrides.get(key as SettingName)?.source,
      (entry) => (options.chains ? interfacesOf(entry, options.chains) : null),
    ),
    ...gather(locate, (report) => {
      if (!isShort && file['network-address']) {
        const place = overrides.get('network-address')?.source ?? 'network-address'
        report(place, 'it has no effect beside endpoints', 'Write the address there.')
      }
      checkEntries(entries, report)
      checkSharing(file, report)
      const { workers = 1, 'metrics-listen-address': admin = null } = file
      checkAddresses(entries, admin?.isOptional ? null : admin, workers !== 1, locate, report)
    }),
  ])
  const usable =
    yaml.tree !== null &&
    file.endpoints?.[0] &&
    problems.every(({ severity }) => severity !== 'error')
  return {
    config: usable ? buildRouterConfig(file as ConfigFile) : null,
    problems,
    tree,
    file,
    entries,
    specSources: wholeList(file['use-static-spec']),
    locate,
    impliesNoSockets,
    hidden: () => [...yaml.filledIn, ...hiddenInLogs(secretsIn(file))],
  }
}

/** Files that a config names. They must be read before parsing. */
export function sourcesOf(text: string, { environment, flags }: ParseOptions) {
  const tree = withSettings(readYaml(text, environment).tree, overridesOf({ environment, flags }))
  const { value } = parsePartly(configSchema, tree)
  return {
    envFiles: wholeList(value['env-file']),
    specSources: wholeList(value['use-static-spec']),
  }
}

function wholeList(list: readonly (string | undefined)[] = []): readonly string[] {
  return list.filter((each) => each !== undefined)
}

/** Values of a setting from a flag or a variable. */
interface Override {
  /** Source, such as `--strategy` or `SR_LOG_LEVEL`. */
  readonly source: string
  readonly texts: readonly string[]
}

/** Flags override variables, and both override the file. */
function overridesOf({ flags, environment }: ParseOptions): ReadonlyMap<SettingName, Override> {
  const overrides = new Map<SettingName, Override>()
  for (const name of settingNames) {
    const { variable } = settings[name]
    const value = variable === null ? undefined : environment[variable]
    const flag = flags[name]
    if (flag !== undefined) overrides.set(name, { source: `--${name}`, texts: flag })
    else if (variable && value) overrides.set(name, { source: variable, texts: [value] })
  }
  return overrides
}

/** Merges defaults, the file, and flags and variables; the latter win. */
function withSettings(file: TreeMap | null, over: ReadonlyMap<SettingName, Override>): TreeMap {
  const defaults = settingNames.flatMap((name) => {
    const { default: text } = settings[name]
    return text === null ? [] : [[name, new Scalar(text)] as const]
  })
  const set = [...over].map(([name, { texts }]) => {
    const scalars = texts.map((text) => new Scalar(text))
    return [name, settings[name].repeatable ? scalars : (scalars.at(-1) ?? null)] as const
  })
  return { ...Object.fromEntries(defaults), ...file, ...Object.fromEntries(set) }
}
