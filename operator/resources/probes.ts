// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1Probe } from '@kubernetes/client-node'
import type { Plain } from './kinds.ts'

function get(path: string): Plain<V1Probe> {
  return { httpGet: { path, port: 'metrics', scheme: 'HTTP' }, timeoutSeconds: 3 }
}

/** Time for chain specs to load, two minutes at most. */
export const startupProbe: Plain<V1Probe> = {
  ...get('/livez'),
  periodSeconds: 2,
  failureThreshold: 60,
}

/** Whether clients are sent here. Fails as soon as a stop begins. */
export const readinessProbe: Plain<V1Probe> = {
  ...get('/readyz'),
  periodSeconds: 5,
  failureThreshold: 2,
}

/** Whether the process works; upstreams have no part in it, or their outage would restart the fleet. */
export const livenessProbe: Plain<V1Probe> = {
  ...get('/livez'),
  periodSeconds: 10,
  failureThreshold: 6,
}
