// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { secondBuckets, series } from '../../operator/cli/series.ts'
import { fillIn } from '../generate/fill-in.ts'
import { seriesTable } from './chains/table.ts'

/** `docs/reference/operator-metrics.md`, with the operator's table of series. */
export function render(): string {
  return fillIn('docs/reference/operator-metrics.md', {
    series: [
      ...seriesTable(Object.values(series)),
      '',
      `Buckets of the histograms, in seconds: ${secondBuckets.join(', ')}.`,
    ],
  })
}
