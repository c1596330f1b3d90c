// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LivePrometheus } from './live-prometheus.ts'

interface Dashboard {
  readonly panels: readonly { title: string; targets?: readonly { expr: string }[] }[]
  readonly annotations: { readonly list: readonly { name: string; expr: string }[] }
}

/** Every query of a dashboard, by the title of its panel. */
function queriesOf(name: string): readonly (readonly [title: string, promql: string])[] {
  const folder = join(import.meta.dirname, '../../../charts/rpc-router/files/dashboards')
  const text = readFileSync(join(folder, `${name}.json`), 'utf8')
  const { panels, annotations } = JSON.parse(text) as Dashboard
  const targets = panels.flatMap(({ title, targets: own = [] }) =>
    own.map(({ expr }) => [title, expr] as const),
  )
  const all = [...targets, ...annotations.list.map((each) => [each.name, each.expr] as const)]
  return all.map(([title, expr]) => [
    title,
    expr.replaceAll('$__rate_interval', '15s').replaceAll(/=~"\$\w+"/g, '=~".*"'),
  ])
}

/** For `expect.poll`: some events are rare. */
export const patience = { timeout: 180_000, interval: 2_000 }

/** @returns a function that queries the panels which had no data so far, and lists those without */
export function emptyPanels(prometheus: LivePrometheus, dashboard: string) {
  let empty = queriesOf(dashboard)
  return async () => {
    const results = await Promise.all(empty.map(([, promql]) => prometheus.query(promql)))
    empty = empty.filter((_, at) => results[at]?.every(({ value }) => Number.isNaN(value)))
    return empty
  }
}
