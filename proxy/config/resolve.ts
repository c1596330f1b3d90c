// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { isUnbuilt, unsupportedMessage } from './capabilities.ts'
import { paramsOf } from './fields/field.ts'
import { type Problem, problemAt } from './problem.ts'
import { settingNames, settings } from './settings.ts'
import type { FlagValues, SettingName, SettingValue } from './settings.ts'
import { child, isList, Scalar, type Tree } from './yaml/scalar.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Parsed<N extends SettingName> = z.output<(typeof settings)[N]['field']>

/** Where a setting's value comes from, and what is written there. */
interface Given {
  /** `--strategy`, `SR_SPEC`, or null for the file and the defaults. */
  readonly source: string | null
  readonly scalars: readonly Scalar[]
}

/** The settings of the process: flag beats environment beats file beats default. */
export class Settings {
  readonly #tree: Tree
  readonly #flags: FlagValues
  readonly #environment: Environment

  constructor(tree: Tree, flags: FlagValues, environment: Environment) {
    this.#tree = tree
    this.#flags = flags
    this.#environment = environment
  }

  /** The value of a setting that is no list. One that cannot be read counts as its default: `problems` has it. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    const { default: defaultText, field } = settings[name]
    const given = this.list(name).at(-1)
    if (given !== undefined) return given
    return (defaultText === null ? null : field.parse(new Scalar(defaultText))) as SettingValue<N>
  }

  /** The values of a repeatable setting, in order. */
  list<N extends SettingName>(name: N): readonly Parsed<N>[] {
    return this.given(name).scalars.flatMap((scalar) => {
      const parsed = settings[name].field.safeParse(scalar)
      return parsed.success ? [parsed.data as Parsed<N>] : []
    })
  }

  /** What is written for a setting, wherever it is. */
  given(name: SettingName): Given {
    const flag = this.#flags[name]
    if (flag !== undefined)
      return { source: `--${name}`, scalars: flag.map((value) => new Scalar(value)) }
    const { variable, default: defaultText } = settings[name]
    const value = variable === null ? undefined : this.#environment[variable]
    if (value) return { source: variable, scalars: [new Scalar(value)] }
    const written = child(this.#tree, name)
    const scalars = (isList(written) ? written : [written]).filter((item) => item instanceof Scalar)
    if (scalars.length > 0 || defaultText === null) return { source: null, scalars }
    return { source: null, scalars: [new Scalar(defaultText)] }
  }

  /** What is wrong with flags and environment variables. The schema finds the file's own mistakes. */
  problems(): readonly Problem[] {
    return settingNames.flatMap((name) => {
      const { source, scalars } = this.given(name)
      return source === null ? [] : scalars.flatMap((scalar) => problemsOf(name, source, scalar))
    })
  }
}

function problemsOf(name: SettingName, source: string, scalar: Scalar): readonly Problem[] {
  if (isUnbuilt(name) && scalar.written !== 'false')
    return [problemAt(source, null, unsupportedMessage(name))]
  const issues = settings[name].field.safeParse(scalar).error?.issues ?? []
  return issues.map((issue) => problemAt(source, null, issue.message, paramsOf(issue)?.hint))
}
