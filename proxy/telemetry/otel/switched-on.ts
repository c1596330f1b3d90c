// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export type Signals = NonNullable<ReturnType<typeof signalsAsked>>

/**
 * What the standard environment variables of OpenTelemetry ask for. Null: nothing is exported, and nothing of OpenTelemetry is loaded. Otherwise than in its SDK, no exporter is used by default: a
 * router that was told nothing sends nothing. Metrics need to be named, since Prometheus has them already.
 */
export function signalsAsked(env: Readonly<Record<string, string | undefined>>) {
  const value = (name: string) => env[name]?.trim().toLowerCase() ?? ''
  const isAsked = (signal: string, byDefault = '') => {
    const exporter = value(`OTEL_${signal}_EXPORTER`)
    const endpoint = value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) || byDefault
    return exporter === '' ? endpoint !== '' : exporter !== 'none'
  }
  const traces = isAsked('TRACES', value('OTEL_EXPORTER_OTLP_ENDPOINT'))
  const metrics = isAsked('METRICS')
  const isOn = value('OTEL_SDK_DISABLED') !== 'true' && (traces || metrics)
  return isOn ? { traces, metrics } : null
}
