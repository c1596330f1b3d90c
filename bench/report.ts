// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { cpus } from 'node:os'
import type { Load, Sample } from './rounds.ts'

/** At most so many times the CPU that nginx uses for a request. */
const targetRatio = 6
const megabyte = 1e6

/** What a benchmark found. */
export interface BenchResult {
  readonly date: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string }
  readonly load: Load & { readonly rounds: number }
  /** The router alone: start of the process to the first answer, and memory before any load. */
  readonly router: { readonly firstAnswerMs: number; readonly idleBytes: number }
  /** Medians over the rounds, by target. */
  readonly medians: Readonly<Record<string, Sample>>
  readonly rounds: readonly Readonly<Record<string, Sample>>[]
}

/** The machine that this runs on. */
export function thisMachine(): BenchResult['machine'] {
  const cores = cpus()
  return { cpu: cores[0]?.model ?? 'unknown', cores: cores.length, node: process.version }
}

/** The median of each figure over the rounds, by target. */
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

/** A Markdown table of the medians. */
export function tableOf({ medians }: BenchResult): string {
  const nginxCpu = medians['nginx']?.cpuMicrosPerRequest
  const head = ['', 'CPU per request', 'of nginx', 'requests/s', 'p50', 'p99', 'peak memory']
  const rows = Object.entries(medians).map(([name, sample]) => [
    name,
    `${sample.cpuMicrosPerRequest.toFixed(0)} µs`,
    nginxCpu === undefined ? '-' : `${(sample.cpuMicrosPerRequest / nginxCpu).toFixed(1)} ×`,
    sample.requestsPerSecond.toFixed(0),
    `${sample.p50Ms.toFixed(1)} ms`,
    `${sample.p99Ms.toFixed(1)} ms`,
    `${(sample.peakBytes / megabyte).toFixed(0)} MB`,
  ])
  return markdownTable([head, ...rows])
}

/** Columns of one width, all but the first set to the right. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widthOf = (at: number) => Math.max(3, ...[head, ...rows].map((row) => row[at]?.length ?? 0))
  const cellOf = (text: string, at: number) =>
    at === 0 ? text.padEnd(widthOf(at)) : text.padStart(widthOf(at))
  const lineOf = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`
  const rule = head.map((_, at) => `${'-'.repeat(widthOf(at) - 1)}${at === 0 ? '-' : ':'}`)
  return [lineOf(head), lineOf(rule), ...rows.map(lineOf)].join('\n')
}

/** The router against the target, in a sentence; null when there is nothing to compare with. */
export function verdictOf({ medians }: BenchResult): string | null {
  const [router, nginx] = [medians['router'], medians['nginx']]
  if (router === undefined || nginx === undefined) return null
  const ratio = router.cpuMicrosPerRequest / nginx.cpuMicrosPerRequest
  const verdict = ratio <= targetRatio ? 'met' : 'MISSED'
  return `The router uses ${ratio.toFixed(1)} times the CPU of nginx for a request; the target of at most ${targetRatio} is ${verdict}.`
}

/** What the router needs without any load, in a sentence. */
export function idleSentence({ router }: BenchResult): string {
  const seconds = (router.firstAnswerMs / 1000).toFixed(2)
  const idle = (router.idleBytes / megabyte).toFixed(0)
  return `The router's first answer comes ${seconds} s after its start; idle, it holds ${idle} MB.`
}

/** The whole result as a page. */
export function pageOf(result: BenchResult): string {
  const { date, machine, load } = result
  return `# Last results

${date}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}; ${load.rounds} rounds of ${load.seconds} s at
${load.connections} connections, medians. Made by \`make bench BENCH_ARGS=--write\`; the method is in the
[README](../README.md).

${tableOf(result)}

${[verdictOf(result), idleSentence(result)].filter((sentence) => sentence !== null).join(' ')}
`
}

/** The middle of the values, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}
