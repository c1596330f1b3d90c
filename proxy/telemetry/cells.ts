// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Counter } from 'prom-client'
import type { Metric, Registry } from 'prom-client'
import type { Series } from './series.ts'

/*
 * Every request touches these, and prom-client hashes all labels anew on each touch, also through
 * `labels()`. So what is hot counts in a cell that its owner keeps, and prom-client reads the cells
 * when it is scraped.
 */

export type Labels = Readonly<Record<string, string>>

/** One counter with its labels resolved. Only ever raise it. */
export interface CounterCell {
  count: number
}

/** One histogram with its labels resolved. */
export interface HistogramCell {
  observe(value: number): void
}

/** Registers a counter; the function makes a cell, which adds to others of the same labels. */
export function counterCells(registry: Registry, counter: Series): (labels: Labels) => CounterCell {
  const cells: { labels: Labels; told: number; cell: CounterCell }[] = []
  new Counter({
    name: counter.name,
    help: counter.help,
    labelNames: counter.labels,
    registers: [registry],
    collect() {
      for (const entry of cells) {
        this.inc(entry.labels, entry.cell.count - entry.told)
        entry.told = entry.cell.count
      }
    },
  })
  return (labels) => {
    const cell = { count: 0 }
    cells.push({ labels, told: 0, cell })
    return cell
  }
}

/** Registers a histogram; the function gives the cell of a set of labels. Ask once, and keep it. */
export function histogramCells(
  registry: Registry,
  histogram: Series & { readonly buckets: readonly number[] },
): (labels: Labels) => HistogramCell {
  const cells = new Map<string, Buckets>()
  const family = {
    name: histogram.name,
    get: () =>
      Promise.resolve({
        name: histogram.name,
        help: histogram.help,
        type: 'histogram',
        values: [...cells.values()].flatMap((cell) => cell.lines(histogram.name)),
      }),
  }
  // prom-client cannot take over counted buckets; its registry asks no more of a metric than these.
  registry.registerMetric(family as unknown as Metric)
  return (labels) => {
    const key = JSON.stringify(labels)
    const cell = cells.get(key) ?? new Buckets(labels, histogram.buckets)
    cells.set(key, cell)
    return cell
  }
}

interface Line {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

class Buckets implements HistogramCell {
  readonly #labels: Labels
  readonly #bounds: readonly number[]
  /** One more than bounds: the last takes what is above all of them. */
  readonly #counts: number[]
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at += 1
    ;(this.#counts[at] as number) += 1
    this.#sum += value
  }

  lines(name: string): Line[] {
    let count = 0
    const lines: Line[] = this.#counts.map((inBucket, at) => {
      count += inBucket
      const le = this.#bounds[at] ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { ...this.#labels, le }, value: count }
    })
    lines.push({ metricName: `${name}_sum`, labels: this.#labels, value: this.#sum })
    lines.push({ metricName: `${name}_count`, labels: this.#labels, value: count })
    return lines
  }
}
