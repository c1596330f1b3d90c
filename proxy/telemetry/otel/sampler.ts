// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name, which the SDK makes for itself alone.
 *
 * @throws Error naming the variable whose value is none of the standard ones
 */
export function samplerOf(env: Readonly<Record<string, string | undefined>>): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1)
  const roots: Readonly<Record<string, Sampler>> = {
    always_on: new AlwaysOnSampler(),
    always_off: new AlwaysOffSampler(),
    traceidratio: new TraceIdRatioBasedSampler(ratio),
  }
  const root = roots[name.replace(/^parentbased_/, '')]
  if (root === undefined)
    throw new Error(`OTEL_TRACES_SAMPLER is ${name}, which is no standard sampler`)
  if (name.endsWith('ratio') && !(ratio >= 0 && ratio <= 1))
    throw new Error('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1')
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
