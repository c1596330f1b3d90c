// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { series } from './series.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly runbook: string }
}

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const file = parse(read('examples/prometheus-rules-operator.yml')) as {
  groups: { rules: Rule[] }[]
}
const rules = file.groups.flatMap((group) => group.rules)
const known = new Map<string, readonly string[]>(
  Object.values(series).map(({ name, labels }) => [name, labels]),
)

/** Series and labels of a PromQL text that the operator does not have. */
function unknownIn(promql: string): string[] {
  return [...promql.matchAll(/(rpc_operator_[a-z_]+)(?:\{([^}]*)\})?/g)].flatMap(
    ([, name = '', matchers = '']) => {
      const labels = known.get(name)
      if (!labels) return [name]
      const asked = [...matchers.matchAll(/(\w+)[=!]~?"/g)].map(([, label = '']) => label)
      return asked.filter((label) => !labels.includes(label)).map((label) => `${name}{${label}}`)
    },
  )
}

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s asks for series that exist, and its runbook shows the same expression',
  (alert, { expr, annotations }) => {
    expect(expr).toMatch(/rpc_operator_/)
    expect(unknownIn(expr)).toEqual([])
    const page = read(annotations.runbook)
    expect(page).toContain(`Alert \`${alert}\` of the operator, `)
    expect(page).toContain(`\`\`\`promql\n${expr.trim()}\n\`\`\``)
    expect(unknownIn(page)).toEqual([])
    expect(read('docs/runbooks/README.md')).toContain(`\`${alert}\``)
  },
)

test('each page on an alert of the operator belongs to one', () => {
  const pages = readdirSync(new URL('docs/runbooks/', root))
    .map((page) => `docs/runbooks/${page}`)
    .filter((page) => /^Alert .* of the operator, /m.test(read(page)))
  expect(new Set(pages)).toEqual(new Set(rules.map((rule) => rule.annotations.runbook)))
})
