// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Registry } from 'prom-client'

/** The page of metrics in the format that the scraper asks for. */
export interface MetricsPage {
  readonly type: string
  readonly text: string
}

/** One sample as prom-client lists it. Histograms name their lines and may have exemplars. */
interface Line {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly exemplar?: Exemplar | undefined
}

/** A call that falls into a bucket and has a trace. */
export interface Exemplar {
  readonly traceId: string
  readonly value: number
  readonly atMs: number
}

/** Renders the registry: in OpenMetrics, which has exemplars, for scrapers that accept it. */
export async function metricsPage(registry: Registry, accept = ''): Promise<MetricsPage> {
  if (!accept.includes('application/openmetrics-text'))
    return { type: registry.contentType, text: await registry.metrics() }
  return { type: Registry.OPENMETRICS_CONTENT_TYPE, text: await openMetrics(registry) }
}

/** prom-client renames its counters for this format, and then cannot render the other one. */
async function openMetrics(registry: Registry): Promise<string> {
  const all = await registry.getMetricsAsJSON()
  const lines = all.flatMap(({ name, help, type, values }) => {
    const family = `${type}` === 'counter' ? name.replace(/_total$/, '') : name
    const samples = (values as unknown as Line[]).map((line) => sample(name, line))
    return [`# HELP ${family} ${escaped(help)}`, `# TYPE ${family} ${type}`, ...samples]
  })
  return [...lines, '# EOF', ''].join('\n')
}

function sample(name: string, { metricName = name, labels, value, exemplar }: Line): string {
  const pairs = Object.entries(labels).map(([key, of]) => `${key}="${escaped(`${of}`)}"`)
  const line = `${metricName}${pairs.length > 0 ? `{${pairs.join()}}` : ''} ${value}`
  if (!exemplar) return line
  const { traceId, value: exact, atMs } = exemplar
  return `${line} # {trace_id="${traceId}"} ${exact} ${atMs / 1_000}`
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('"', '\\"')
}
