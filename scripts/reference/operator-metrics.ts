// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { secondBuckets, type Series, series } from '../../operator/cli/series.ts'
import { tableRow } from './chains/table.ts'

const page = join(import.meta.dirname, '../../docs/reference/operator-metrics.md')

/** `docs/reference/operator-metrics.md`, made from the operator's table of series. From `## Labels` on its text is kept. */
export function render(): string {
  const written = readFileSync(page, 'utf8')
  return [
    '# Metrics of the operator',
    '',
    '<!-- Made from operator/cli/series.ts by `make generate`, but for the labels. -->',
    '',
    'Served in the text format of Prometheus at `/metrics` on `--listen-address`. Those of the routers are on',
    '[another page](metrics.md). A replica that waits for the lease serves them as well: it watches, and reconciles nothing.',
    '',
    '## Series',
    '',
    tableRow(['Series', 'Type', 'Labels', 'Meaning']),
    tableRow(['---', '---', '---', '---']),
    ...Object.values<Series>(series).map(({ name, type, labels, help }) =>
      tableRow([code(name), type, labels.map(code).join(' '), help]),
    ),
    '',
    `Buckets of the histograms, in seconds: ${secondBuckets.join(', ')}.`,
    '',
    written.slice(written.indexOf('## Labels')),
  ].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
