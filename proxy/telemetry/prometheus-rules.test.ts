// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { errorKinds } from '../relay/errors.ts'
import { isFailure } from './call-counters.ts'
import { series, type Series } from './series.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly runbook: string }
}

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const file = parse(read('examples/prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }
const rules = file.groups.flatMap((group) => group.rules)
/** Those of the operator's events and alerts have tests of their own. */
const isOfTheRouter = (page: string) =>
  !/^(?:Event on an .*, warning|Alert .* of the operator, .*)\./m.test(
    read(`docs/runbooks/${page}`),
  )
const pages = readdirSync(new URL('docs/runbooks/', root)).filter(
  (page) => page !== 'README.md' && isOfTheRouter(page),
)

const byName = new Map<string, Series>(Object.values<Series>(series).map((one) => [one.name, one]))
const selector = /(router_[a-z_]+)(?:\{([^}]*)\})?/g

/** Series and labels that a PromQL text asks for and the router does not have. */
function unknownIn(promql: string): string[] {
  return [...promql.matchAll(selector)].flatMap(([, name = '', matchers = '']) => {
    const found = byName.get(name) ?? byName.get(name.replace(/_bucket$/, ''))
    if (!found) return [name]
    const labels = [...matchers.matchAll(/(\w+)[=!]~?"/g)].map(([, label = '']) => label)
    const known: readonly string[] = found.labels
    return labels.filter((label) => !known.includes(label)).map((label) => `${name}{${label}}`)
  })
}

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s asks for series that exist, and its runbook shows the same expression',
  (alert, rule) => {
    expect(rule.expr).toMatch(/router_/)
    expect(unknownIn(rule.expr)).toEqual([])
    const page = read(rule.annotations.runbook)
    expect(page).toContain(`\`${alert}\``)
    expect(page).toContain(`\`\`\`promql\n${rule.expr.trim()}\n\`\`\``)
    expect(read('docs/runbooks/README.md')).toContain(`\`${alert}\``)
  },
)

test.each(pages)('%s belongs to an alert and asks for series that exist', (page) => {
  expect(rules.map((rule) => rule.annotations.runbook)).toContain(`docs/runbooks/${page}`)
  expect(unknownIn(read(`docs/runbooks/${page}`))).toEqual([])
})

test('the error ratio counts the same outcomes as failures as the log does', () => {
  const expr = rules.find((rule) => rule.alert === 'RouterErrorRatioHigh')?.expr ?? ''
  const spared = new Set(/outcome!~"([^"]+)"/.exec(expr)?.[1]?.split('|'))
  const outcomes = [
    'success',
    'node-error',
    'upstream-error',
    'held-off',
    'abandoned',
    ...Object.values(errorKinds).map((kind) => kind.reason),
  ]
  expect(outcomes.filter((outcome) => !spared.has(outcome))).toEqual(outcomes.filter(isFailure))
})
