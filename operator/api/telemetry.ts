// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { settings } from '../../proxy/config/settings.ts'
import { logFormats, logLevels } from '../../proxy/config/types.ts'
import { boolean, integer, list, object, oneOf, text } from './field.ts'
import { labelMap } from './labels.ts'
import { urlPort } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue } from './refs.ts'

/** How the router logs. */
export const logging = object(
  {
    level: oneOf(logLevels, {
      description: 'The least level that is logged.',
      example: 'info',
    }).default(settings['log-level'].default),
    format: oneOf(logFormats, {
      description: 'How the log is written.',
      example: 'json',
    }).default(settings['log-format'].default),
  },
  { description: 'How the router logs.', example: { level: 'debug' } },
)

/** How metrics are collected. */
export const monitoring = object(
  {
    type: oneOf(['None', 'PodMonitor', 'ServiceMonitor'], {
      description:
        'Which object of the Prometheus operator is made. Nothing is made while the cluster does not know its kind. Metrics are served on port 7779 in any case.',
      example: 'PodMonitor',
    }).default('None'),
    interval: duration({
      name: 'interval',
      description: 'How often metrics are collected. Unset: as Prometheus does.',
      example: '30s',
      min: '1s',
      max: '1h',
    }).optional(),
    labels: labelMap('labels', {
      description: 'Labels of that object, by which Prometheus finds it.',
      example: { release: 'kube-prometheus-stack' },
      max: 16,
    }).optional(),
    selectionStats: boolean({
      description: 'Tell in a response header how the upstream was chosen.',
      example: false,
    }).default(false),
  },
  { description: 'How metrics are collected.', example: { type: 'PodMonitor' } },
)

const tracingHeader = namedValue(
  text({
    description: 'Name of the header.',
    example: 'x-tenant',
    max: 256,
    pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
    must: 'name must be the name of an HTTP header',
  }),
  {
    description: 'A header of the exporter.',
    example: { name: 'x-tenant', valueFrom: { secretKeyRef: { name: 'otel', key: 'tenant' } } },
  },
)

/** Traces of OpenTelemetry. */
export const tracing = object(
  {
    endpoint: text({
      description: 'URL of the collector.',
      example: 'http://otel-collector.monitoring.svc:4317',
      max: 2048,
      pattern: /^https?:\/\/[^\s@/]+(\/[^\s]*)?$/,
      must: 'endpoint must be an http or https URL without a user, a password and spaces',
      rules: [urlPort('endpoint')],
    }),
    protocol: oneOf(['grpc', 'http/protobuf'], {
      description: 'How OTLP travels.',
      example: 'grpc',
    }).default('grpc'),
    samplingPercent: integer({
      description: 'Share of calls that are traced when the caller did not decide, in percent.',
      example: 1,
      min: 0,
      max: 100,
    }).default(1),
    headers: list(tracingHeader, {
      description: 'Headers that the exporter sends.',
      example: [{ name: 'x-tenant', value: 'rpc' }],
      max: 16,
      kind: ['name'],
    }).optional(),
  },
  {
    description:
      'Traces of OpenTelemetry, with W3C context. Unset: none. Not built yet: a router that asks for it is not accepted.',
    example: { endpoint: 'http://otel-collector.monitoring.svc:4317', samplingPercent: 1 },
  },
)
