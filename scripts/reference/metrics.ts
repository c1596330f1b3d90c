// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { labelMeanings, series } from '../../proxy/telemetry/series.ts'
import type { LabelName, Series } from '../../proxy/telemetry/series.ts'

/** `docs/reference/metrics.md`, made from the table of series. */
export function render(): string {
  const all: readonly Series[] = Object.values(series)
  const used = new Set<LabelName>(all.flatMap((one) => one.labels))
  return `# Metrics

<!-- Made from proxy/telemetry/series.ts by \`make generate\`. -->

Served in the text format of Prometheus at \`/metrics\` on \`metrics-listen-address\`. Series of calls, attempts and
events appear once there was one; series of the process, the breaker, connections and upstreams are there from the
start. [Runbooks](../runbooks/README.md) say what to alert on; [health](health.md) describes the other paths of this
address.

## Series

${table(
  ['Series', 'Type', 'Labels', 'Meaning'],
  all.map((one) => [code(one.name), one.type, one.labels.map(code).join(' '), one.help]),
)}

Buckets of the histograms, in seconds: ${series.requestDuration.buckets.join(', ')}.

## Labels

No label holds anything that a client sent, or a URL. The number of series is bounded by the config and the chain
specs.

${table(
  ['Label', 'Holds'],
  Object.entries(labelMeanings)
    .filter(([name]) => used.has(name as LabelName))
    .map(([name, meaning]) => [code(name), meaning]),
)}
`
}

function code(text: string): string {
  return `\`${text}\``
}

/** Columns padded as prettier pads them, so that formatting the docs changes nothing. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) =>
    Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
