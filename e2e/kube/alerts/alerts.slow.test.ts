// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { ensureAssets } from '../assets.ts'
import { printed, run } from '../kubectl.ts'
import { cases } from './cases.fixture.ts'

/*
 * The alerts in the engine of Prometheus: each fires in time, not a step earlier, with its labels
 * and annotations, and does not fire in a healthy state.
 */

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, '../../..')
const files = ['', '-operator'].map((suffix) =>
  join(root, `charts/rpc-router/files/prometheus-rules${suffix}.yaml`),
)
const rules = files.flatMap((path) => {
  const { groups } = parse(readFileSync(path, 'utf8')) as { groups: { rules: Partial<Rule>[] }[] }
  return groups.flatMap((group) => group.rules).filter((rule) => rule.alert) as Rule[]
})

beforeAll(() => ensureAssets(process.env, ['promtool']).then(() => {}), 3_600_000)

function aside(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Series in the notation of promtool: a name with labels, then a value for each minute. */
const inputs = (lines: readonly string[]) =>
  lines.map((line) => {
    const [, series = '', values = ''] = /^(.*[\w}]) ([^}]+)$/.exec(line) ?? []
    return { series, values }
  })

test('Prometheus accepts the rules without lint warnings', async () => {
  const check = ['check', 'rules', '--lint=all', '--lint-fatal', ...files]
  expect(await run('promtool', check)).toMatchObject({ code: 0, stderr: '' })
})

test('Prometheus accepts the config of the example, with these rules', async () => {
  const example = readFileSync(join(root, 'examples/observability/prometheus.yml'), 'utf8')
  const path = aside('prometheus.yml', example)
  copyFileSync(files[0]!, join(path, '../prometheus-rules.yaml'))
  const stdout = await printed(run('promtool', ['check', 'config', path]))
  expect(stdout).toContain('1 rule files found')
})

test('each alert has a case, and each case has an alert', () => {
  expect(Object.keys(cases).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
})

test.each(Object.entries(cases))('%s', async (alert, { broken, well, gone, at, labels, says }) => {
  const { annotations, labels: ofRule } = rules.find((rule) => rule.alert === alert)!
  const described = annotations['description']?.replaceAll(
    /\{\{ \$labels\.(\w+) \}\}/g,
    (_, label: string) => labels[label] ?? '',
  )
  const fires = {
    exp_labels: { ...ofRule, ...labels },
    exp_annotations: { ...annotations, summary: says, description: described },
  }
  const expected = (minute: number, exp_alerts: readonly object[]) => ({
    eval_time: `${minute}m`,
    alertname: alert,
    exp_alerts,
  })
  const interval = '1m'
  const always = Array.from({ length: Math.max(2 * at, 40) }, (_, minute) => expected(minute, []))
  const tests = [
    {
      interval,
      input_series: inputs(broken),
      alert_rule_test: [expected(at - 1, []), expected(at, [fires])],
    },
    { interval, input_series: inputs(well), alert_rule_test: always },
  ]
  const bare = { ...fires, exp_labels: ofRule }
  const ofNothing = [expected(4, []), expected(5, [bare])]
  if (gone) tests.push({ interval, input_series: inputs(gone), alert_rule_test: ofNothing })
  const path = aside('test.yml', stringify({ rule_files: files, tests }))
  const { code, stdout, stderr } = await run('promtool', ['test', 'rules', path])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
  expect(code).toBe(0)
})

const siblings = Object.entries(cases).flatMap(([alert, { also }]) =>
  also.map((each) => [alert, each.when, each] as const),
)
test.each(siblings)('%s fires without a break when %s', async (alert, _, { series, from, to }) => {
  const minutes = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const promql_expr_test = minutes.map((minute) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: `${minute}m`,
    exp_samples: [{ labels: '{}', value: 1 }],
  }))
  const tests = [{ interval: '1m', input_series: inputs(series), promql_expr_test }]
  const path = aside('test.yml', stringify({ rule_files: files, tests }))
  const { stdout, stderr } = await run('promtool', ['test', 'rules', path])
  expect(`${stdout}${stderr}`).toContain('SUCCESS')
})

test('the queries of the dashboards are valid PromQL', async () => {
  const dashboards = ['fleet', 'chain', 'upstream', 'operator'].map((name) =>
    readFileSync(join(root, `charts/rpc-router/files/dashboards/${name}.json`), 'utf8'),
  )
  const requests = dashboards.flatMap((text) =>
    (JSON.parse(text) as { panels: { targets?: { expr: string }[] }[] }).panels.flatMap(
      ({ targets = [] }) => targets.map(({ expr }) => expr),
    ),
  )
  const recorded = requests.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }))
  const path = aside('panels.yml', stringify({ groups: [{ name: 'panels', rules: recorded }] }))
  await expect(printed(run('promtool', ['check', 'rules', path]))).resolves.toContain(
    `${requests.length} rules found`,
  )
})
