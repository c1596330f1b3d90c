// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export type Signals = NonNullable<ReturnType<typeof signalsAsked>>

const exporters = ['otlp', 'console', 'none']

/**
 * What the standard environment variables of OpenTelemetry ask for. Null: nothing is exported, and nothing of OpenTelemetry is loaded. Otherwise than in its SDK, no exporter is used by default: a
 * router that was told nothing sends nothing. Metrics need to be named, since Prometheus has them already.
 *
 * @throws Error naming an exporter that there is not
 */
export function signalsAsked(env: Readonly<Record<string, string | undefined>>) {
  const value = (name: string) => env[name]?.trim() ?? ''
  if (value('OTEL_SDK_DISABLED').toLowerCase() === 'true') return null
  const isAsked = (signal: string, isByEndpoint: boolean) => {
    const named = value(`OTEL_${signal}_EXPORTER`)
    if (named === '') return isByEndpoint || value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) !== ''
    const names = named.split(',').map((each) => each.trim())
    const unknown = names.find((each) => !exporters.includes(each))
    if (unknown !== undefined)
      throw new Error(`OTEL_${signal}_EXPORTER is ${unknown}; it can be ${exporters.join(', ')}`)
    return !names.includes('none')
  }
  const traces = isAsked('TRACES', value('OTEL_EXPORTER_OTLP_ENDPOINT') !== '')
  const metrics = isAsked('METRICS', false)
  return traces || metrics ? { traces, metrics } : null
}
