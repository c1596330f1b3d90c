// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { unsupportedMessage, unsupportedName } from './capabilities.ts'
import type { IssueParams } from './field.ts'
import type { FlagValues } from './flag-values.ts'
import type { Problem } from './problem.ts'
import { child, isList, Scalar, type Tree } from './scalar.ts'
import { settingNames, settings, type SettingName, type SettingValue } from './settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

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

  /** The value of a setting that is no list. One that cannot be read counts as its default: `problems` tells. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    const scalar = this.given(name).scalars.at(-1)
    const parsed = scalar === undefined ? null : settings[name].field.safeParse(scalar)
    if (parsed?.success) return parsed.data as SettingValue<N>
    const { default: defaultText, field } = settings[name]
    return (defaultText === null ? null : field.parse(new Scalar(defaultText))) as SettingValue<N>
  }

  /** The values of a repeatable setting, in order. */
  list<N extends SettingName>(name: N): readonly z.output<(typeof settings)[N]['field']>[] {
    return this.given(name).scalars.flatMap((scalar) => {
      const parsed = settings[name].field.safeParse(scalar)
      return parsed.success ? [parsed.data as z.output<(typeof settings)[N]['field']>] : []
    })
  }

  /** What is written for a setting, wherever it is. */
  given(name: SettingName): Given {
    const flag = this.#flags[name]
    if (flag !== undefined) {
      return { source: `--${name}`, scalars: flag.map((value) => new Scalar(value)) }
    }
    const { variable, default: defaultText } = settings[name]
    const value = variable === null ? undefined : this.#environment[variable]
    if (variable !== null && value !== undefined && value !== '') {
      return { source: variable, scalars: [new Scalar(value)] }
    }
    const written = child(this.#tree, name)
    const scalars = (isList(written) ? written : [written]).filter((item) => item instanceof Scalar)
    if (scalars.length > 0 || defaultText === null) return { source: null, scalars }
    return { source: null, scalars: [new Scalar(defaultText)] }
  }

  /** What is wrong with flags and environment variables. The file's own mistakes are told by the schema. */
  problems(): readonly Problem[] {
    return settingNames.flatMap((name) => {
      const { source, scalars } = this.given(name)
      return source === null ? [] : scalars.flatMap((scalar) => problemsOf(name, source, scalar))
    })
  }
}

function problemsOf(name: SettingName, source: string, scalar: Scalar): readonly Problem[] {
  const unsupported = unsupportedName(name, scalar.reveal())
  if (unsupported !== null && scalar.written !== 'false') {
    return [problem(source, unsupportedMessage(unsupported), null)]
  }
  const parsed = settings[name].field.safeParse(scalar)
  if (parsed.success) return []
  return parsed.error.issues.map((issue) => {
    const params = 'params' in issue ? (issue.params as IssueParams | undefined) : undefined
    return problem(source, issue.message, params?.hint ?? null)
  })
}

function problem(path: string, message: string, hint: string | null): Problem {
  return { severity: 'error', path, line: null, column: null, message, hint }
}
