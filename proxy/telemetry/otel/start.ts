// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { diag, trace } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import {
  defaultResource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import { NodeSDK } from '@opentelemetry/sdk-node'
import {
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { sleep, type Clock } from '../../clock/clock.ts'
import { lineLimits, type Logger } from '../log.ts'
import { createCallSpans, SpanIds } from './call-spans.ts'

/** Omits the SDK's process detector, which would export the command line. */
const resourceDetectors = [
  ...[resourceAttributesEnvDetector, serviceNameEnvDetector, serviceInstanceIdDetector],
]
/** The semantic conventions whose names are used. */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.45.0'
/** Limits the log lines while a collector is down. */
const troubleRate = { lines: 1, perMs: 600_000 }
/** How long a stop waits for a collector that does not accept the last spans. */
const maxFlushMs = 3_000

/** The running OpenTelemetry SDK. `stop` flushes the remaining data within 3 s. */
export type Tracing = ReturnType<typeof startTracing>

/**
 * Starts the SDK from its standard variables, once per process. It exports in the background from
 * bounded queues.
 * @throws Error for an unknown sampler
 */
export function startTracing(
  env: NodeJS.ProcessEnv,
  { version, clock, logger }: { version: string; clock: Clock; logger: Logger },
) {
  const take = lineLimits(logger, clock, {})(troubleRate, 'warn', 'OpenTelemetry failures')
  const say = (error: unknown) => {
    if (take()) logger.warn('OpenTelemetry failed', { error })
  }
  diag.setLogger({ error: say, warn: say, info() {}, debug() {}, verbose() {} })
  setGlobalErrorHandler(say)
  const ids = new SpanIds()
  const sampler = samplerOf(env)
  const own = { 'service.name': 'rpc-router', 'service.version': version }
  const sdk = new NodeSDK({
    resource: defaultResource().merge(resourceFromAttributes(own, { schemaUrl })),
    ...(env['OTEL_NODE_RESOURCE_DETECTORS'] ? {} : { resourceDetectors }),
    // Only sampled spans reach this point.
    ...{ sampler: new AlwaysOnSampler(), idGenerator: ids },
    ...{ textMapPropagator: null, logRecordProcessors: [], metricReaders: [] },
  })
  sdk.start()
  const tracer = trace.getTracerProvider().getTracer('rpc-router', version, { schemaUrl })
  const observers = createCallSpans({ tracer, ids, sampler, clock })
  const stop = () => Promise.race([sdk.shutdown().catch(say), sleep(clock, maxFlushMs)])
  return Object.assign(observers, { stop })
}

/**
 * The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. The SDK hides its own.
 * @throws Error if it is not a standard sampler
 */
export function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const share = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1)
  const shares: Record<string, number> = { always_on: 1, always_off: 0, traceidratio: share }
  const ratio = shares[name.replace(/^parentbased_/, '')] ?? NaN
  if (!(ratio >= 0 && ratio <= 1))
    throw new Error(
      `OTEL_TRACES_SAMPLER is ${name}, OTEL_TRACES_SAMPLER_ARG ${share}: no such sampler`,
    )
  const root = new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
