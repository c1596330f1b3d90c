// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { labelMeanings, secondBuckets, type Series, series } from '../../operator/cli/series.ts'
import { tableRow } from './chains/table.ts'

/** `docs/reference/operator-metrics.md`, made from the operator's table of series. */
export function render(): string {
  return [
    '# Metrics of the operator',
    '',
    '<!-- Made from operator/cli/series.ts by `make generate`. -->',
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
    '## Labels',
    '',
    tableRow(['Label', 'Holds']),
    tableRow(['---', '---']),
    ...Object.entries(labelMeanings).map(([name, meaning]) => tableRow([code(name), meaning])),
  ].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
