// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { settings } from '../../proxy/config/settings.ts'
import { logFormats, logLevels } from '../../proxy/config/types.ts'
import { described } from './described.ts'
import { boolean, integer, list, object, oneOf } from './field.ts'
import { labelMap } from './labels.ts'
import { headerName, httpUrl } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue } from './refs.ts'

export const logging = object('Logs of the router.', {
  level: oneOf(described('log-level'), logLevels, 'info').default(settings['log-level'].default),
  format: oneOf(described('log-format'), logFormats, 'json').default(
    settings['log-format'].default,
  ),
  accessLog: boolean(described('access-log', 'Unset: false.'), true).optional(),
})

export const monitoring = object('Collection of metrics.', {
  type: oneOf(
    'Object of the Prometheus operator to create, once the cluster has its kind. Metrics are always served on port 7779.',
    ['None', 'PodMonitor', 'ServiceMonitor'],
    'PodMonitor',
  ).default('None'),
  interval: duration(
    "Scrape interval. Unset: Prometheus' default.",
    ['1s', '1h'],
    '30s',
  ).optional(),
  labels: labelMap('Labels of that object, with which Prometheus selects it.', {
    example: { release: 'kube-prometheus-stack' },
    max: 16,
  }).optional(),
  selectionStats: boolean(described('enable-selection-stats')).default(false),
})

const tracingHeader = namedValue(
  headerName('Name of the header.', 'x-tenant'),
  'A header of the exporter.',
  {
    name: 'x-tenant',
    valueFrom: { secretKeyRef: { name: 'otel', key: 'tenant' } },
  },
)

export const tracing = object(
  'OpenTelemetry traces with W3C context, set through the standard variables `OTEL_*`. Those in `pod.env` take precedence. Unset: none.',
  {
    endpoint: httpUrl('URL of the collector.', 'http://otel-collector.monitoring.svc:4317'),
    protocol: oneOf('OTLP protocol.', ['grpc', 'http/protobuf']).default('grpc'),
    samplingPercent: integer(
      'Percentage of calls to trace, unless the caller decides.',
      [0, 100],
    ).default(1),
    headers: list('Headers that the exporter sends.', tracingHeader, {
      example: [{ name: 'x-tenant', value: 'rpc' }],
      max: 16,
      kind: ['name'],
    }).optional(),
  },
)
