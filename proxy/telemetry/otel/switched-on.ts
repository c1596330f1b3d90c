// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Whether the standard OpenTelemetry variables enable traces; if not, no code is loaded. Unlike the
 * SDK, this has no default exporter: an unconfigured router sends nothing.
 */
export function isTracingOn(env: Readonly<Record<string, string | undefined>>): boolean {
  const value = (name: string) => env[name]?.trim().toLowerCase() ?? ''
  const exporter = value('OTEL_TRACES_EXPORTER')
  const endpoint =
    value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || value('OTEL_EXPORTER_OTLP_ENDPOINT')
  const isAsked = exporter === '' ? endpoint !== '' : exporter !== 'none'
  return isAsked && value('OTEL_SDK_DISABLED') !== 'true'
}
