// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { series as ofOperator } from '../../operator/cli/series.ts'
import { errorKinds } from '../../proxy/relay/errors.ts'
import { isFailure } from '../../proxy/telemetry/call-counters.ts'
import { series as ofRouter } from '../../proxy/telemetry/series.ts'
import { recorded } from '../generate/recorded-series.ts'
import { projectFiles, projectText } from '../law/project-files.ts'

/*
 * Alerts, runbooks and dashboards refer only to series and labels in the programs' tables. Tests
 * next to the tables check that the programs export them.
 */

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: {
    readonly summary: string
    readonly description: string
    readonly runbook: string
  }
}

const rules = ['', '-operator'].flatMap((suffix) => {
  const text = projectText(`charts/rpc-router/files/prometheus-rules${suffix}.yaml`)
  const { groups } = parse(text) as { groups: { rules: Partial<Rule>[] }[] }
  return groups.flatMap((group) => group.rules).filter((rule) => rule.alert) as Rule[]
})
const runbooks = projectFiles().filter((path) => /^docs\/runbooks\/(?!README).*\.md$/.test(path))
const dashboards = projectFiles().filter((path) =>
  /^charts\/rpc-router\/files\/dashboards\/.*\.json$/.test(path),
)

const families = new Map<string, readonly string[]>([
  ...recorded.entries().map(([name, { labels }]) => [name, labels] as const),
  ...([...Object.values(ofRouter), ...Object.values(ofOperator)].flatMap(
    ({ name, labels, type }) =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labels, 'le']],
            [`${name}_sum`, labels],
            [`${name}_count`, labels],
          ]
        : [[name, labels]],
  ) as [string, string[]][]),
])
/** Labels that Prometheus adds to all series of a target. */
const ofTargets = ['job', 'instance', 'pod', 'namespace']

/** Series and labels that no program exports. Prose may name a histogram without suffix. */
function unknownIn(text: string): readonly string[] {
  const known: string[] = []
  const found = [
    ...text.matchAll(
      /\b(?<name>(?:(?:router|rpc_operator)_[a-z_]+|router:[\w:]+))(?:\{(?<matchers>[^}]*)\})?/g,
    ),
  ].flatMap(({ groups }) => {
    const { name = '', matchers = '' } = groups ?? {}
    const labels = families.get(name) ?? families.get(`${name}_count`)
    if (!labels) return [name]
    known.push(...labels)
    const requests = [...matchers.matchAll(/(\w+)[=!]~?"/g)].map(([, label = '']) => label)
    return requests.filter((label) => ![...labels, ...ofTargets].includes(label))
  })
  known.push(...[...text.matchAll(/label_replace\(.*?, "(\w+)", /g)].map(([, label = '']) => label))
  const grouped = [...text.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, by = '']) => by.split(', '))
  return [...found, ...grouped.filter((label) => ![...known, ...ofTargets].includes(label))]
}

test.each([
  ['sum by (chain) (rate(router_requests_total{outcome="timeout"}[5m]))', []],
  ['router_no_such_total', ['router_no_such_total']],
  ['router_requests_total{colour="red"}', ['colour']],
  ['sum by (le, upstream) (router_request_duration_seconds_bucket)', ['upstream']],
  ['sum by (le) (router_request_duration_seconds_count)', ['le']],
])('of %s, what no program exports is found', (promql, unknown) => {
  expect(unknownIn(promql)).toEqual(unknown)
})

describe.each(rules.map((rule) => [rule.alert, rule] as const))('the alert %s', (alert, rule) => {
  const { expr, labels, annotations } = rule

  test('refers to existing series and labels', () => {
    expect(expr).toMatch(/(?:router|rpc_operator)[_:]/)
    expect(unknownIn(expr)).toEqual([])
  })

  test('has a description with only labels of its result', () => {
    expect(annotations.summary).not.toBe('')
    expect(annotations.description).toMatch(/^.*\.$/)
    const shown = Object.values(annotations)
      .join()
      .matchAll(/\$labels\.(\w+)/g)
    const [, by] = /\bby \(([^)]+)\)/.exec(expr) ?? []
    const [name = ''] = /\w+/.exec(expr) ?? []
    const kept = by?.split(', ') ?? [...(families.get(name) ?? []), ...ofTargets]
    expect(kept).toEqual(expect.arrayContaining([...shown].map(([, label]) => label)))
  })

  test('has a runbook with the same expression and severity', () => {
    const page = projectText(annotations.runbook)
    const of = expr.includes('rpc_operator_') ? ' of the operator' : ''
    expect(page).toContain(`Alert \`${alert}\`${of}, ${labels.severity}.`)
    expect(page).toContain(`\`\`\`promql\n${expr.trim()}\n\`\`\``)
    const row = `| \`${alert}\` | ${labels.severity} | `
    expect(projectText('docs/runbooks/README.md').replaceAll(/ +/g, ' ')).toContain(row)
  })
})

test.each(runbooks)('%s belongs to an alert or an event, and refers to existing series', (path) => {
  const text = projectText(path)
  const isOfAnEvent = /^Event on an .*, warning\./m.test(text)
  const alerts = [...text.matchAll(/^Alert `(\w+)`/gm)].map(([, alert]) => alert)
  expect(alerts).toEqual(
    rules.filter(({ annotations }) => annotations.runbook === path).map(({ alert }) => alert),
  )
  expect(isOfAnEvent || alerts.length > 0).toBe(true)
  expect(unknownIn(text)).toEqual([])
})

describe.each(dashboards)('%s', (path) => {
  interface Panel {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly gridPos: {
      readonly x: number
      readonly y: number
      readonly w: number
      readonly h: number
    }
    readonly targets?: readonly { readonly expr: string }[]
  }
  const { panels, templating, uid, annotations } = JSON.parse(projectText(path)) as {
    uid: string
    annotations: { list: { expr: string }[] }
    panels: Panel[]
    templating: { list: { name: string; query: string }[] }
  }
  const variables = templating.list.map(({ name }) => name)

  test('refers to existing series and labels, and to its variables', () => {
    const requests = [...panels.flatMap(({ targets = [] }) => targets), ...annotations.list].map(
      ({ expr }) => expr,
    )
    expect(requests.length).toBeGreaterThan(15)
    for (const expr of [...requests, ...templating.list.map(({ query }) => query)]) {
      expect(unknownIn(expr)).toEqual([])
      const used = [...expr.matchAll(/\$([a-z_]+)/g)].map(([, name]) => name)
      expect([...variables, '__rate_interval']).toEqual(expect.arrayContaining(used))
    }
    for (const expr of requests) expect(expr).toContain('job=~"$job"')
  })

  test('has no overlapping panels', () => {
    const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`)
    expect(new Set(places).size).toBe(panels.length)
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(uid).toBe(`rpc-router-${path.split('/').at(-1)?.replace('.json', '')}`)
  })
})

test('the compose example mounts existing files, listens on loopback, and shows all dashboards', () => {
  interface Service {
    readonly image: string
    readonly volumes: readonly string[]
    readonly ports: readonly string[]
  }
  const folder = 'examples/observability'
  const { services } = parse(projectText(`${folder}/compose.yaml`)) as {
    services: Readonly<Record<string, Service>>
  }
  const mounted = new Map(
    Object.values(services).flatMap(({ volumes }) =>
      volumes.map((volume) => {
        const [from = '', to = ''] = volume.split(':')
        return [to, posix.join(folder, from)] as const
      }),
    ),
  )
  for (const path of mounted.values())
    expect(
      projectFiles().some((file) => `${file}/`.startsWith(`${path}/`)),
      path,
    ).toBe(true)
  for (const { image, ports } of Object.values(services)) {
    expect(image).toMatch(/:(?!latest)[\w.]+\}?$/)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  }
  const { providers } = parse(projectText(`${folder}/grafana/dashboards.yml`)) as {
    providers: [{ options: { path: string } }]
  }
  expect(mounted.get(providers[0].options.path)).toBe(posix.dirname(dashboards[0]!))
  const { scrape_configs: jobs } = parse(projectText(`${folder}/prometheus.yml`)) as {
    scrape_configs: [{ static_configs: [{ targets: [string] }] }]
  }
  const [name, port] = jobs[0].static_configs[0].targets[0].split(':')
  expect(Object.keys(services)).toContain(name)
  expect(projectText(`${folder}/router.yml`)).toContain(`metrics-listen-address: 0.0.0.0:${port}\n`)
})

test('the error ratio and the log count the same outcomes as failures', () => {
  const { expr = '' } = rules.find((rule) => rule.alert === 'RouterErrorRatioHigh') ?? {}
  const [, spared = ''] = /outcome!~"([^"]+)"/.exec(expr) ?? []
  const outcomes = [
    'success',
    'node-error',
    'upstream-error',
    'refused',
    'abandoned',
    ...Object.values(errorKinds).map((kind) => kind.reason),
  ]
  const failures = outcomes.filter((outcome) => !spared.split('|').includes(outcome))
  expect(failures).toEqual(outcomes.filter(isFailure))
  for (const path of dashboards.filter((each) => /fleet|chain/.test(each)))
    expect(projectText(path)).toContain(`outcome!~\\"${spared}\\"`)
})
