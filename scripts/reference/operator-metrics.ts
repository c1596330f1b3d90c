// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { labelMeanings, secondBuckets, type Series, series } from '../../operator/cli/series.ts'
import { seriesTable, tableRow, words } from './chains/table.ts'

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
    ...seriesTable(Object.values<Series>(series)),
    '',
    `Buckets of the histograms, in seconds: ${secondBuckets.join(', ')}.`,
    '',
    '## Labels',
    '',
    tableRow(['Label', 'Holds']),
    tableRow(['---', '---']),
    ...Object.entries(labelMeanings).map(([name, meaning]) => tableRow([words([name]), meaning])),
  ].join('\n')
}
