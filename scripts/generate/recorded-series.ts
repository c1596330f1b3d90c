// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parse } from 'yaml'
import { projectText } from '../law/project-files.ts'

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { record?: string; expr: string }[] }[]
}

const { groups } = parse(projectText('charts/rpc-router/files/prometheus-rules.yaml')) as RuleFile

/** The series that the rules record, with the labels by which they add up. */
export const recorded: ReadonlyMap<string, { readonly labels: readonly string[]; help: string }> =
  new Map(
    groups
      .flatMap(({ rules }) => rules)
      .flatMap(({ record, expr }) => {
        const [, by = ''] = /\bby \(([^)]+)\)/.exec(expr) ?? []
        return record ? [[record, { labels: by.split(', '), help: `Recorded: ${expr}` }]] : []
      }),
  )
