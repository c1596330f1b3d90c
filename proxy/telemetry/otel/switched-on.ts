// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export type Signals = NonNullable<ReturnType<typeof signalsAsked>>

/**
 * The signals that the standard OpenTelemetry variables enable; null if none, and then no code is
 * loaded. Unlike the SDK, this has no default exporter: an unconfigured router sends nothing.
 * Metrics must be named explicitly, because Prometheus already has them.
 */
export function signalsAsked(env: Readonly<Record<string, string | undefined>>) {
  const value = (name: string) => env[name]?.trim().toLowerCase() ?? ''
  const isEnabled = (signal: string, byDefault = '') => {
    const exporter = value(`OTEL_${signal}_EXPORTER`)
    const endpoint = value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`) || byDefault
    return exporter === '' ? endpoint !== '' : exporter !== 'none'
  }
  const traces = isEnabled('TRACES', value('OTEL_EXPORTER_OTLP_ENDPOINT'))
  const metrics = isEnabled('METRICS')
  const isOn = value('OTEL_SDK_DISABLED') !== 'true' && (traces || metrics)
  return isOn ? { traces, metrics } : null
}
