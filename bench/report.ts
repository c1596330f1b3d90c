// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { cpus } from 'node:os'
import type { Sample } from './rounds.ts'
import { limits, type Row, rows } from './rows.ts'
import type { TargetName } from './targets.ts'

const megabyte = 1e6

/** Result of one row of the benchmark. */
export interface RowResult {
  readonly name: string
  /** Medians over the rounds, by target. */
  readonly medians: Readonly<Record<string, Sample>>
  readonly rounds: readonly Readonly<Record<string, Sample>>[]
}

/** The result of a benchmark. */
export interface BenchResult {
  readonly date: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string }
  readonly load: { readonly rounds: number; readonly seconds: number }
  /** The router without load: time from start to first answer, and memory. */
  readonly router: {
    readonly firstAnswerMs: number
    readonly npxAnswerMs: number
    readonly idleBytes: number
  }
  readonly rows: readonly RowResult[]
}

/** A description of this machine. */
export function thisMachine(): BenchResult['machine'] {
  const cores = cpus()
  return { cpu: cores[0]?.model ?? 'unknown', cores: cores.length, node: process.version }
}

/** Medians of each figure over the rounds, by target. */
export function mediansOf(
  rounds: readonly Readonly<Record<string, Sample>>[],
): Record<string, Sample> {
  const byTarget = new Map<string, Sample[]>()
  for (const [name, sample] of rounds.flatMap((round) => Object.entries(round)))
    byTarget.set(name, [...(byTarget.get(name) ?? []), sample])
  return Object.fromEntries([...byTarget].map(([name, samples]) => [name, medianSample(samples)]))
}

function medianSample(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure))
  return {
    requests: of((sample) => sample.requests),
    errors: 0,
    errorSamples: {},
    requestsPerSecond: of((sample) => sample.requestsPerSecond),
    p50Ms: of((sample) => sample.p50Ms),
    p99Ms: of((sample) => sample.p99Ms),
    cpuMicrosPerRequest: of((sample) => sample.cpuMicrosPerRequest),
    peakBytes: of((sample) => sample.peakBytes),
  }
}

/** A Markdown table with a line for each row and target. */
export function tableOf({ rows: results }: BenchResult): string {
  const head = 'row,target,CPU a request,× nginx,× pass-through,requests/s,p50,p99,memory'.split(
    ',',
  )
  const lines = results.flatMap(({ name: row, medians }) =>
    Object.entries(medians).map(([name, sample]) => {
      const ratioTo = (base: TargetName) => {
        const cpu = medians[base]?.cpuMicrosPerRequest
        return cpu === undefined ? '-' : (sample.cpuMicrosPerRequest / cpu).toFixed(2)
      }
      return [
        row,
        name,
        `${sample.cpuMicrosPerRequest.toFixed(0)} µs`,
        ratioTo('nginx'),
        ratioTo('passthrough'),
        sample.requestsPerSecond.toFixed(0),
        `${sample.p50Ms.toFixed(2)} ms`,
        `${sample.p99Ms.toFixed(1)} ms`,
        `${(sample.peakBytes / megabyte).toFixed(0)} MB`,
      ]
    }),
  )
  return markdownTable([head, ...lines])
}

/** Pads columns, and aligns all except the first to the right. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widthOf = (at: number) => Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0))
  const cellOf = (text: string, at: number) =>
    at === 0 ? text.padEnd(widthOf(at)) : text.padStart(widthOf(at))
  const lineOf = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`
  const rule = head.map((_, at) => `${'-'.repeat(widthOf(at) - 1)}${at === 0 ? '-' : ':'}`)
  return [lineOf(head), lineOf(rule), ...rows.map(lineOf)].join('\n')
}

/** A line for each figure with its limit. */
export function verdictsOf(result: BenchResult): readonly string[] {
  const { router } = result
  const load = result.rows.find(({ name }) => name === 'read')?.medians['router']?.peakBytes
  return [
    ...rows.flatMap((row) => verdictsOn(row, result)),
    line('first answer', router.firstAnswerMs / 1e3, limits.firstAnswerMs / 1e3, ' s'),
    line('first answer through npx', router.npxAnswerMs / 1e3, limits.npxAnswerMs / 1e3, ' s'),
    line('memory, idle', router.idleBytes / megabyte, limits.idleBytes / megabyte, ' MB'),
    ...(load === undefined
      ? []
      : [line('memory under load', load / megabyte, limits.loadBytes / megabyte, ' MB')]),
  ]
}

/** The verdicts on a row, without goals for which a figure is missing. */
function verdictsOn(row: Row, { rows: results }: BenchResult): readonly string[] {
  const of = (name: string, target: string) =>
    results.find((each) => each.name === name)?.medians[target]
  const own = of(row.name, row.targets[0])
  return row.goals.flatMap(({ figure: name, beside, most }) => {
    const base = beside === 'read' ? of('read', 'router') : of(row.name, beside)
    if (own === undefined || base === undefined) return []
    const figure = name === 'cpu' ? 'cpuMicrosPerRequest' : 'p50Ms'
    const [calls, to] = beside === 'read' ? [row.calls, 'a single read, a call'] : [1, beside]
    const value = own[figure] / calls / base[figure]
    return [line(`${row.name}: ${name === 'cpu' ? 'CPU' : 'p50'}`, value, most, ` × ${to}`)]
  })
}

function line(what: string, value: number, most: number, unit: string): string {
  const digits = most >= 100 ? 0 : 2
  const isMet = value <= most
  return `${isMet ? 'met   ' : 'MISSED'}  ${what} ${value.toFixed(digits)}${unit}, at most ${most}`
}

/** The whole result as a page. */
export function pageOf(result: BenchResult): string {
  const { date, machine, load } = result
  return `# Last results

${date}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}; ${load.rounds} rounds of ${load.seconds} s,
medians. Made by \`make bench BENCH_ARGS=--write\`; the method is in the
[README](../README.md).

${tableOf(result)}

\`\`\`
${verdictsOf(result).join('\n')}
\`\`\`
`
}

/** The median of the values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}
