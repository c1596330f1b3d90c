// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { series } from '../../proxy/telemetry/series.ts'
import { fillIn } from '../generate/fill-in.ts'
import { seriesTable } from './chains/table.ts'

/** `docs/reference/metrics.md`, with the router's table of series. */
export function render(): string {
  return fillIn('docs/reference/metrics.md', {
    series: [
      ...seriesTable(Object.values(series)),
      '',
      `Buckets of the histograms, in seconds: ${series.requestDuration.buckets.join(', ')}.`,
    ],
  })
}
