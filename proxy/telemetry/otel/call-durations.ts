// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Attributes, Meter } from '@opentelemetry/api'

/** As the semantic conventions for RPC advise. */
const explicitBucketBoundaries = [
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
]

export type CallDurations = ReturnType<typeof callDurations>

/** How long calls and attempts take, in seconds. Attributes are of bounded sets. */
export function callDurations(meter: Meter) {
  const recorder = (name: string, description: string) => {
    const advice = { explicitBucketBoundaries }
    const histogram = meter.createHistogram(name, { unit: 's', description, advice })
    return (durationMs: number, attributes: Attributes, errorType: string | null) => {
      const failed = errorType === null ? {} : { 'error.type': errorType }
      histogram.record(durationMs / 1_000, { ...attributes, ...failed })
    }
  }
  return {
    server: recorder('rpc.server.call.duration', 'Calls of clients.'),
    client: recorder('rpc.client.call.duration', 'Attempts at upstreams.'),
  }
}
