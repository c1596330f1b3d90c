// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkAddresses, showAddress } from './addresses.ts'
import { buildRouterConfig, secretsOf } from './build.ts'
import { refuseUnsupported } from './capabilities.ts'
import { chainUsesOf } from './chain-use.ts'
import { checkEntries } from './entry-checks.ts'
import { explainIssues, type Places } from './explain.ts'
import { switchableAddress } from './fields.ts'
import type { FlagValues } from './flag-values.ts'
import { createParsedConfig, type ParsedConfig } from './parsed-config.ts'
import { renderPlaceholders } from './placeholder.ts'
import { orderProblems } from './order-problems.ts'
import type { Problem } from './problem.ts'
import { Settings } from './resolve.ts'
import type { Scalar } from './scalar.ts'
import { isMap, type Tree } from './scalar.ts'
import { configSchema } from './schema.ts'
import { checkServing } from './serving.ts'
import { type Position, readYamlText } from './yaml-text.ts'
import { readYamlTree } from './yaml-tree.ts'

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

/** Reads, renders, checks and completes a config file. Reports every problem at once; never throws. */
export function parseConfig(source: ConfigSource, options: ParseOptions): ParsedConfig {
  const { environment, flags } = options
  const file = readTree(source.text, environment)
  const settings = new Settings(file.tree, flags, environment)
  const problems = [...file.problems, ...settings.problems()]
  const parsed = configSchema.safeParse(file.tree)
  if (isMap(file.tree)) {
    const unsupported = refuseUnsupported(file.tree, file.places.locate)
    const refused = unsupported.map((problem) => problem.path)
    const issues = parsed.success ? [] : explainIssues(parsed.error.issues, file.tree, file.places)
    const metrics = settings.given('metrics-listen-address').scalars.at(-1)
    problems.push(
      ...unsupported,
      ...issues.filter((problem) => !refused.some((path) => isWithin(problem.path, path))),
      ...checkEntries(file.tree, file.places.locate),
      ...checkAddresses(
        file.tree,
        metrics === undefined ? null : showAddress(switchableAddress(7779), metrics),
        file.places.locate,
      ),
    )
  }
  const ordered = orderProblems(problems)
  const usable = parsed.success && !ordered.some((problem) => problem.severity === 'error')
  return createParsedConfig({
    config: usable ? buildRouterConfig(parsed.data, settings) : null,
    logging: { level: settings.get('log-level'), format: settings.get('log-format') },
    problems: ordered,
    chainUses: chainUsesOf(file.tree),
    checkServing: (chainIdOf) => checkServing(file.tree, chainIdOf, file.places.locate),
    specSources: settings.list('use-static-spec'),
    positions: file.positions,
    secretValues: [...new Set([...file.values, ...(parsed.success ? secretsOf(parsed.data) : [])])],
  })
}

/** A config that could not even be read, with what is known from flags and environment. */
export function unreadableConfig(
  problems: readonly Problem[],
  options: ParseOptions,
): ParsedConfig {
  const settings = new Settings(null, options.flags, options.environment)
  return createParsedConfig({
    config: null,
    logging: { level: settings.get('log-level'), format: settings.get('log-format') },
    problems: [...problems, ...settings.problems()],
    chainUses: [],
    checkServing: () => [],
    specSources: [],
    positions: new Map(),
    secretValues: [],
  })
}

/** The env files that a config names, by flags or in the file: they must be read before it is parsed. */
export function envFilesOf(source: ConfigSource, flags: FlagValues): readonly string[] {
  // Most files name none, and need not be read for it.
  const named = source.text.includes('env-file') && flags['env-file'] === undefined
  const tree = named ? readTree(source.text, {}).tree : null
  return new Settings(tree, flags, {}).list('env-file')
}

interface FileTree {
  readonly tree: Tree
  readonly positions: ReadonlyMap<string, Position>
  readonly places: Places
  readonly problems: readonly Problem[]
  /** Values that placeholders gave. */
  readonly values: readonly string[]
}

function readTree(text: string, environment: ParseOptions['environment']): FileTree {
  const yaml = readYamlText(text)
  if (yaml.document === null) {
    const positions = new Map<string, Position>()
    return { tree: null, positions, places: nowhere, problems: yaml.problems, values: [] }
  }
  const values: string[] = []
  const malformed: Problem[] = []
  const missing = new Map<string, { path: string; positions: Position[] }>()
  const readScalar = (written: string, path: string, position: Position): Scalar => {
    const rendering = renderPlaceholders(written, environment)
    values.push(...rendering.values)
    for (const name of new Set(rendering.missing)) {
      const uses = missing.get(name) ?? { path, positions: [] }
      uses.positions.push(position)
      missing.set(name, uses)
    }
    if (rendering.malformed) malformed.push(malformedProblem(path, position))
    return rendering.scalar
  }
  const { tree, usable, ...rest } = readYamlTree(yaml.document, yaml, readScalar)
  const { positions, keyPositions, problems } = rest
  if (!usable) return { tree: null, positions, places: nowhere, problems, values }
  const unset = [...missing].map(([name, { path, positions: uses }]) =>
    missingProblem(name, path, uses, environment),
  )
  const found = [...problems, ...malformed, ...unset]
  if (!isMap(tree) && found.length === 0) found.push(notAMap)
  const places: Places = {
    locate: (path) => nearestPlace(path, positions),
    locateKey: (path) => keyPositions.get(path) ?? positions.get(path) ?? null,
  }
  return { tree, positions, places, problems: found, values }
}

const nowhere: Places = { locate: () => null, locateKey: () => null }

const notAMap: Problem = {
  severity: 'error',
  path: '',
  line: 1,
  column: 1,
  message: 'the top level of the file is not a map',
  hint: 'It begins with keys such as endpoints: and direct-rpc:.',
}

/** The place itself, or the nearest one around it that the file has. */
function nearestPlace(path: string, positions: ReadonlyMap<string, Position>): Position | null {
  let place = path
  while (place !== '') {
    const found = positions.get(place)
    if (found !== undefined) return found
    place = place.slice(0, Math.max(place.lastIndexOf('.'), place.lastIndexOf('['), 0))
  }
  return null
}

function malformedProblem(path: string, position: Position): Problem {
  return {
    severity: 'error',
    path,
    ...position,
    message: 'a placeholder is not well formed',
    hint: 'Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.',
  }
}

/** What a person at a terminal can do for a variable that is not set. */
export const unsetVariableHint = 'Set it in the environment or in an env file (--env-file).'

function missingProblem(
  name: string,
  path: string,
  uses: readonly Position[],
  environment: ParseOptions['environment'],
): Problem {
  const lines = [...new Set(uses.map((use) => use.line))]
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
  const state = environment[name] === '' ? 'is empty' : 'is not set'
  return {
    severity: 'error',
    path,
    line: uses[0]?.line ?? null,
    column: uses[0]?.column ?? null,
    message: `the variable ${name} ${state} (used on ${where})`,
    hint: unsetVariableHint,
  }
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`)
}
