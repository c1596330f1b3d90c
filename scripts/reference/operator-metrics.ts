// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { labelMeanings, secondBuckets, series } from '../../operator/cli/series.ts'
import { fillIn } from '../generate/fill-in.ts'
import { seriesTable, tableRow, words } from './chains/table.ts'

/** `docs/reference/operator-metrics.md`, with the operator's tables of series and labels. */
export function render(): string {
  return fillIn('docs/reference/operator-metrics.md', {
    series: [
      ...seriesTable(Object.values(series)),
      '',
      `Buckets of the histograms, in seconds: ${secondBuckets.join(', ')}.`,
    ],
    labels: [
      tableRow(['Label', 'Holds']),
      tableRow(['---', '---']),
      ...Object.entries(labelMeanings).map(([name, meaning]) => tableRow([words([name]), meaning])),
    ],
  })
}
