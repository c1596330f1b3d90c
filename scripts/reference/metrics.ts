// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Series, series } from '../../proxy/telemetry/series.ts'
import { tableRow } from './chains/table.ts'

const page = join(import.meta.dirname, '../../docs/reference/metrics.md')

/** `docs/reference/metrics.md`, made from the table of series. From `## Labels` on its text is kept. */
export function render(): string {
  const written = readFileSync(page, 'utf8')
  return `# Metrics

<!-- Made from proxy/telemetry/series.ts by \`make generate\`, but for the labels. -->

Served in the text format of Prometheus at \`/metrics\` on \`metrics-listen-address\`. Series of calls, attempts and
events appear once there was one; series of the process, the breaker, connections and upstreams are there from the
start. [Runbooks](../runbooks/README.md) say what to alert on; [health](health.md) describes the other paths of this
address.

## Series

${tableRow(['Series', 'Type', 'Labels', 'Meaning'])}
${tableRow(['---', '---', '---', '---'])}
${Object.values<Series>(series)
  .map(({ name, type, labels, help }) =>
    tableRow([code(name), type, labels.map(code).join(' '), help]),
  )
  .join('\n')}

Buckets of the histograms, in seconds: ${series.requestDuration.buckets.join(', ')}.

${written.slice(written.indexOf('## Labels'))}`
}

function code(text: string): string {
  return `\`${text}\``
}
