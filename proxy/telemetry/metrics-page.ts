// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Registry } from 'prom-client'

/** The page of metrics, in the format that the scraper accepts. */
export interface MetricsPage {
  readonly type: string
  readonly text: string
}

/** A value in a bucket whose call has a trace. */
export interface Exemplar {
  readonly traceId: string
  readonly value: number
  readonly atMs: number
}

/** One sample as prom-client lists it. Lines of histograms have their own names. */
interface Line {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly exemplar?: Exemplar
}

/**
 * Renders the registry: in OpenMetrics, which has exemplars, for scrapers that accept it.
 * prom-client would rename its counters for it, and could then not render the other format.
 */
export async function metricsPage(registry: Registry, accept = ''): Promise<MetricsPage> {
  if (!accept.includes('application/openmetrics-text'))
    return { type: registry.contentType, text: await registry.metrics() }
  const families = (await registry.getMetricsAsJSON()).flatMap(({ name, help, type, values }) => {
    const family = String(type) === 'counter' ? name.replace(/_total$/, '') : name
    const samples = (values as unknown as Line[]).map((line) => sample(name, line))
    return [`# HELP ${family} ${escaped(help)}`, `# TYPE ${family} ${type}`, ...samples]
  })
  return { type: Registry.OPENMETRICS_CONTENT_TYPE, text: [...families, '# EOF', ''].join('\n') }
}

function sample(name: string, { metricName = name, labels, value, exemplar: of }: Line): string {
  const pairs = Object.entries(labels).map(([key, label]) => `${key}="${escaped(String(label))}"`)
  const traced = of && ` # {trace_id="${of.traceId}"} ${of.value} ${of.atMs / 1_000}`
  return `${metricName}${pairs.length > 0 ? `{${pairs.join()}}` : ''} ${value}${traced ?? ''}`
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
