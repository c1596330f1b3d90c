// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node'
import type { Endpoint } from '../api/endpoints.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { metricsPort, routerObjectName } from '../translate/object-names.ts'
import { childOf } from './child.ts'
import { type Monitor, podMonitors, type Service, serviceMonitors, services } from './kinds.ts'
import { selectorLabels } from './labels.ts'
import { listenerNames } from './ports.ts'

/** On the metrics Service, and on no other. */
const metricsLabel = 'rpcrouter.dev/metrics-of'

/** The Service that clients use. No session affinity: sticky sessions go by a header. */
export function buildService(router: RpcRouter, chainIdOf: (chainId: string) => string): Service {
  const { endpoints, service } = router.spec
  const listeners = listenerNames(endpoints, chainIdOf)
  const { type, annotations, labels, ...rest } = service
  return {
    ...childOf(router, services, { labels, annotations }),
    spec: {
      type,
      ...(rest as Partial<V1ServiceSpec>),
      selector: { ...selectorLabels(router, 'router') },
      ports: endpoints.map((endpoint, index) => servicePort(endpoint, listeners[index] ?? '')),
    },
  }
}

function servicePort({ name, port, apiInterface }: Endpoint, targetPort: string): V1ServicePort {
  const appProtocol = apiInterface === 'grpc' ? 'kubernetes.io/h2c' : 'http'
  return { name, port, targetPort, protocol: 'TCP', appProtocol }
}

/** A Service for a ServiceMonitor alone: metrics are not for clients, nor for load balancers. */
export function buildMetricsService(router: RpcRouter): Service {
  const port = { name: 'metrics', port: metricsPort, targetPort: 'metrics', protocol: 'TCP' }
  return {
    ...childOf(router, services, {
      name: `${routerObjectName(router)}-metrics`,
      labels: { [metricsLabel]: router.metadata.name },
    }),
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: { ...selectorLabels(router, 'router') },
      ports: [{ ...port, appProtocol: 'http' }],
    },
  }
}

/** Tells the Prometheus operator to collect the metrics of the pods. */
export function buildPodMonitor(router: RpcRouter): Monitor {
  return {
    ...childOf(router, podMonitors, { labels: router.spec.monitoring.labels }),
    spec: {
      selector: { matchLabels: selectorLabels(router, 'router') },
      podMetricsEndpoints: [scrape(router)],
    },
  }
}

/** Tells the Prometheus operator to collect the metrics through the metrics Service. */
export function buildServiceMonitor(router: RpcRouter): Monitor {
  return {
    ...childOf(router, serviceMonitors, { labels: router.spec.monitoring.labels }),
    spec: {
      selector: { matchLabels: { [metricsLabel]: router.metadata.name } },
      endpoints: [scrape(router)],
    },
  }
}

function scrape({ spec }: RpcRouter): object {
  const { interval } = spec.monitoring
  return { port: 'metrics', path: '/metrics', ...(interval && { interval }) }
}
