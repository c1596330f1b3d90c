// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ROOT_CONTEXT, SpanKind, trace, TraceFlags } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { samplerOf } from './start.ts'
import { isTracingOn } from './switched-on.ts'

test.each([
  ['nothing', {}, false],
  ['empty values', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_TRACES_EXPORTER: '' }, false],
  ['a name alone', { OTEL_SERVICE_NAME: 'x' }, false],
  ['an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
  ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/x' }, true],
  ['several exporters', { OTEL_TRACES_EXPORTER: 'otlp, console' }, true],
  ['an exporter', { OTEL_TRACES_EXPORTER: 'console' }, true],
  ['an exporter of metrics', { OTEL_METRICS_EXPORTER: 'otlp' }, false],
  [
    'an endpoint without traces',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_TRACES_EXPORTER: 'none' },
    false,
  ],
  [
    'an endpoint, disabled',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: 'TRUE' },
    false,
  ],
])('%s', (_, env, isOn) => {
  expect(isTracingOn(env)).toBe(isOn)
})

const parent = (traceFlags: number) =>
  trace.setSpanContext(ROOT_CONTEXT, {
    ...{ traceId: '8af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags },
  })
const contexts = {
  root: ROOT_CONTEXT,
  sampled: parent(TraceFlags.SAMPLED),
  unsampled: parent(TraceFlags.NONE),
}
type Case = keyof typeof contexts

test.each<[name: string | undefined, arg: string | undefined, sampled: readonly Case[]]>([
  [undefined, undefined, ['root', 'sampled']],
  ['parentbased_always_on', undefined, ['root', 'sampled']],
  ['parentbased_always_off', undefined, ['sampled']],
  ['parentbased_traceidratio', '0', ['sampled']],
  ['parentbased_traceidratio', '1', ['root', 'sampled']],
  ['always_on', undefined, ['root', 'sampled', 'unsampled']],
  ['always_off', undefined, []],
  ['traceidratio', '0', []],
  ['traceidratio', undefined, ['root', 'sampled', 'unsampled']],
])('the sampler %s %s', (name, arg, sampled) => {
  const sampler = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg })
  const takes = (of: Case) => {
    const id = '8af7651916cd43dd8448eb211c80319c'
    const { decision } = sampler.shouldSample(contexts[of], id, 'x', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  const all = Object.keys(contexts) as Case[]
  expect(all.filter(takes)).toEqual(sampled)
})

test.each([
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER is sometimes'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '5' }, 'SAMPLER_ARG'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'x' }, 'SAMPLER_ARG'],
])('%o is refused', (env, why) => {
  expect(() => samplerOf(env)).toThrow(why)
})
