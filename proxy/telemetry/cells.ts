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

/** Makes a value when its key is first asked for, and keeps it. */
export function memo<V>(make: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = make(key)))
    return value
  }
}

/** One counter with its labels resolved. Only ever raise it. */
export interface CounterCell {
  count: number
}

/** Registers a counter; the function makes a cell, which adds to others of the same labels. */
export function counterCells(registry: Registry, counter: Series): (labels: Labels) => CounterCell {
  const cells: { readonly labels: Labels; readonly cell: CounterCell }[] = []
  new Counter({
    name: counter.name,
    help: counter.help,
    labelNames: counter.labels,
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, cell } of cells) this.inc(labels, cell.count)
    },
  })
  return (labels) => {
    const cell = { count: 0 }
    cells.push({ labels, cell })
    return cell
  }
}

/** Registers a histogram; the function gives the cell of a set of labels. Ask once, and keep it. */
export function histogramCells(
  registry: Registry,
  { name, help, buckets }: Series & { readonly buckets: readonly number[] },
): (labels: Labels) => HistogramCell {
  const cells = new Map<string, HistogramCell>()
  const get = async () => {
    const values = [...cells.values()].flatMap((cell) => cell.lines(name))
    return { name, help, type: 'histogram', values }
  }
  // prom-client cannot take over counted buckets; its registry asks no more of a metric than these.
  registry.registerMetric({ name, get } as unknown as Metric)
  return (labels) => {
    const key = JSON.stringify(labels)
    const cell = cells.get(key) ?? new HistogramCell(labels, buckets)
    cells.set(key, cell)
    return cell
  }
}

/** One histogram with its labels resolved. */
export class HistogramCell {
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

  lines(name: string) {
    const labels = this.#labels
    let count = 0
    const buckets = this.#counts.map((inBucket, at) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: this.#bounds[at] ?? '+Inf' },
      value: (count += inBucket),
    }))
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}
