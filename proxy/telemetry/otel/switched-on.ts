// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What the standard environment variables of OpenTelemetry ask for. */
export interface Signals {
  readonly traces: boolean
  readonly metrics: boolean
}

/**
 * Null: nothing is exported, and nothing of OpenTelemetry is loaded. Otherwise than in its SDK, no exporter is used by default: a
 * router that was told nothing sends nothing. Metrics need to be named, since Prometheus has them already.
 */
export function signalsAsked(env: Readonly<Record<string, string | undefined>>): Signals | null {
  const value = (name: string) => env[name]?.trim() ?? ''
  if (value('OTEL_SDK_DISABLED').toLowerCase() === 'true') return null
  const isAsked = (signal: string, isByEndpoint: boolean) => {
    const exporters = value(`OTEL_${signal}_EXPORTER`)
    if (exporters !== '') return !exporters.split(',').includes('none')
    return isByEndpoint || value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== ''
  }
  const traces = isAsked('TRACES', value('OTEL_EXPORTER_OTLP_ENDPOINT') !== '')
  const metrics = isAsked('METRICS', false)
  return traces || metrics ? { traces, metrics } : null
}
