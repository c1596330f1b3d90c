// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { paramsOf } from './fields/field.ts'
import type { Partly } from './partial.ts'
import { type Problem, problemAt } from './problem.ts'
import type { ConfigFile } from './schema.ts'
import { settingNames, settings } from './settings.ts'
import type { FlagValues, SettingName, SettingValue } from './settings.ts'
import { Scalar } from './yaml/scalar.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Parsed<N extends SettingName> = z.output<(typeof settings)[N]['field']>

/** The settings of the process: flag beats environment beats file beats default. */
export class Settings {
  readonly #file: Partly<ConfigFile>
  readonly #flags: FlagValues
  readonly #environment: Environment

  constructor(file: Partly<ConfigFile>, flags: FlagValues, environment: Environment) {
    this.#file = file
    this.#flags = flags
    this.#environment = environment
  }

  /** The value of a setting that is no list. One that could not be read counts as its default: `problems` has it. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    const { default: defaultText, field } = settings[name]
    const given = this.list(name).at(-1)
    if (given !== undefined) return given
    return (defaultText === null ? null : field.parse(new Scalar(defaultText))) as SettingValue<N>
  }

  /** The values of a repeatable setting, in order. */
  list<N extends SettingName>(name: N): readonly Parsed<N>[] {
    const written = this.#written(name)
    const values =
      written === null
        ? [(this.#file as Readonly<Record<string, unknown>>)[name]].flat()
        : written.scalars.map((scalar) => settings[name].field.safeParse(scalar).data)
    return values.filter((value) => value !== undefined) as unknown as readonly Parsed<N>[]
  }

  /** What is wrong with flags and environment variables. The schema finds the file's own mistakes. */
  problems(): readonly Problem[] {
    return settingNames.flatMap((name) => {
      const { source, scalars } = this.#written(name) ?? { source: '', scalars: [] }
      const issues = scalars.flatMap((each) => settings[name].field.safeParse(each).error?.issues)
      return issues.flatMap((issue) =>
        issue ? problemAt(source, null, issue.message, paramsOf(issue)?.hint) : [],
      )
    })
  }

  /** What a flag or a variable says of a setting; null where neither does. */
  #written(name: SettingName): { source: string; scalars: readonly Scalar[] } | null {
    const flag = this.#flags[name]
    if (flag) return { source: `--${name}`, scalars: flag.map((value) => new Scalar(value)) }
    const { variable } = settings[name]
    const value = variable === null ? undefined : this.#environment[variable]
    return variable && value ? { source: variable, scalars: [new Scalar(value)] } : null
  }
}
