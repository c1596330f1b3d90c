// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { settings } from '../../proxy/config/settings.ts'
import { logFormats, logLevels } from '../../proxy/config/types.ts'
import { boolean, integer, list, object, oneOf } from './field.ts'
import { labelMap } from './labels.ts'
import { headerName, httpUrl } from './names.ts'
import { duration } from './quantity.ts'
import { namedValue } from './refs.ts'

export const logging = object('How the router logs.', {
  level: oneOf('The least level that is logged.', logLevels, 'info').default(
    settings['log-level'].default,
  ),
  format: oneOf('How the log is written.', logFormats, 'json').default(
    settings['log-format'].default,
  ),
})

export const monitoring = object('How metrics are collected.', {
  type: oneOf(
    'Which object of the Prometheus operator is made. Nothing is made while the cluster does not know its kind. Metrics are served on port 7779 in any case.',
    ['None', 'PodMonitor', 'ServiceMonitor'],
    'PodMonitor',
  ).default('None'),
  interval: duration(
    'How often metrics are collected. Unset: as Prometheus does.',
    ['1s', '1h'],
    '30s',
  ).optional(),
  labels: labelMap('Labels of that object, by which Prometheus finds it.', {
    example: { release: 'kube-prometheus-stack' },
    max: 16,
  }).optional(),
  selectionStats: boolean('Say in a response header how the upstream was chosen.').default(false),
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
  'Traces of OpenTelemetry, with W3C context, by its standard variables `OTEL_*`. Those of `pod.env` are stronger. Unset: none.',
  {
    endpoint: httpUrl('URL of the collector.', 'http://otel-collector.monitoring.svc:4317'),
    protocol: oneOf('How OTLP travels.', ['grpc', 'http/protobuf']).default('grpc'),
    samplingPercent: integer(
      'Share of calls that are traced when the caller did not decide, in percent.',
      [0, 100],
    ).default(1),
    headers: list('Headers that the exporter sends.', tracingHeader, {
      example: [{ name: 'x-tenant', value: 'rpc' }],
      max: 16,
      kind: ['name'],
    }).optional(),
  },
)
