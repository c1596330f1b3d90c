// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Attributes, Meter } from '@opentelemetry/api'
import type { Served } from './call-attributes.ts'

/** As the semantic conventions for RPC, and those for HTTP, advise. */
const explicitBucketBoundaries = [
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
]

export type CallDurations = ReturnType<typeof callDurations>

/** How long calls and attempts take, in seconds; those of REST are requests of HTTP. Attributes are of bounded sets. */
export function callDurations(meter: Meter) {
  const recorder = (side: 'server' | 'client', description: string) => {
    const options = { unit: 's', description, advice: { explicitBucketBoundaries } }
    const ofRpc = meter.createHistogram(`rpc.${side}.call.duration`, options)
    const ofHttp = meter.createHistogram(`http.${side}.request.duration`, options)
    return (served: Served, durationMs: number, attributes: Attributes) =>
      (served.interface === 'rest' ? ofHttp : ofRpc).record(durationMs / 1_000, attributes)
  }
  return {
    server: recorder('server', 'Calls of clients.'),
    client: recorder('client', 'Attempts at upstreams.'),
  }
}
