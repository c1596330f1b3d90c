// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName } from '../translate/object-names.ts'
import { childOf } from './child.ts'
import { type Monitor, podMonitors, serviceMonitors } from './kinds.ts'
import { selectorLabels } from './labels.ts'
import { metricsLabel } from './service.ts'

/** Tells the Prometheus operator to collect the metrics of the pods. */
export function buildPodMonitor(router: RpcRouter): Monitor {
  const { labels, interval } = router.spec.monitoring
  return {
    ...childOf(router, podMonitors, {
      name: routerObjectName(router),
      component: 'router',
      labels,
    }),
    spec: {
      selector: { matchLabels: selectorLabels(router, 'router') },
      podMetricsEndpoints: [{ port: 'metrics', path: '/metrics', ...(interval && { interval }) }],
    },
  }
}

/** Tells the Prometheus operator to collect the metrics through the metrics Service. */
export function buildServiceMonitor(router: RpcRouter): Monitor {
  const { labels, interval } = router.spec.monitoring
  return {
    ...childOf(router, serviceMonitors, {
      name: routerObjectName(router),
      component: 'router',
      labels,
    }),
    spec: {
      selector: { matchLabels: { [metricsLabel]: router.metadata.name } },
      endpoints: [{ port: 'metrics', path: '/metrics', ...(interval && { interval }) }],
    },
  }
}
