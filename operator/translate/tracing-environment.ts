// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { NamedValue } from '../api/refs.ts'
import type { ValueCollector } from './value-collector.ts'

/** A variable of the pods; `$(NAME)` in its value refers to another one. */
export interface PlainVariable {
  readonly name: string
  readonly value: string
}

/** Returns the standard OpenTelemetry variables; none if the router has no tracing. */
export function tracingEnvironment(
  { metadata, spec: { tracing } }: RpcRouter,
  collector: ValueCollector,
): readonly PlainVariable[] {
  if (tracing === undefined) return []
  const { endpoint, protocol, samplingPercent, headers = [] } = tracing
  const values = {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: escaped(endpoint),
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(samplingPercent / 100),
    OTEL_SERVICE_NAME: metadata.name,
    OTEL_RESOURCE_ATTRIBUTES: `k8s.namespace.name=${metadata.namespace}`,
    ...(headers.length > 0 && {
      OTEL_EXPORTER_OTLP_HEADERS: headers.map((each) => headerText(each, collector)).join(','),
    }),
  }
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}

/** Returns `name=value`, percent-encoded unless the value is in a Secret. */
function headerText({ name, value, valueFrom }: NamedValue, collector: ValueCollector): string {
  const source = { field: `spec.tracing.headers[${name}].valueFrom`, words: ['tracing', name] }
  const piece = valueFrom ? collector.value(source, valueFrom) : { literal: value ?? '' }
  const text =
    'variable' in piece ? `$(${piece.variable})` : escaped(encodeURIComponent(piece.literal))
  return `${name}=${text}`
}

/** Escapes `$` for Kubernetes. */
function escaped(text: string): string {
  return text.replaceAll('$', '$$$$')
}
