// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1ServicePort,
  V1ServiceSpec,
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node'
import type { NetworkPolicyPeer } from '../api/exposure.ts'
import type { Endpoint, RpcRouter } from '../api/rpc-router.ts'
import { metricsPort, objectName } from '../translate/object-names.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import {
  type Monitor,
  podMonitors,
  type Service,
  serviceMonitors,
  services,
  type IngressRule,
  type NetworkPolicy,
  networkPolicies,
} from './kinds.ts'
import { childOf, selectorLabels } from './labels.ts'
import { listenerNames, type PodPorts, podPorts, unitePorts } from './ports.ts'

/** Label of the metrics Service only. */
const metricsLabel = 'rpcrouter.dev/metrics-of'

/** Builds the Service for clients. It needs no session affinity: sticky sessions use a header. */
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

/** Builds a Service for a ServiceMonitor, so that clients and load balancers see no metrics. */
export function buildMetricsService(router: RpcRouter): Service {
  const port = { name: 'metrics', port: metricsPort, targetPort: 'metrics', protocol: 'TCP' }
  return {
    ...childOf(router, services, {
      name: `${objectName(router)}-metrics`,
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

/** Builds the monitor for Prometheus, which scrapes the pods directly or the metrics Service. */
export function buildMonitor(router: RpcRouter, type: 'PodMonitor' | 'ServiceMonitor'): Monitor {
  const { interval, labels } = router.spec.monitoring
  const scrape = { port: 'metrics', path: '/metrics', ...(interval && { interval }) }
  const isOfPods = type === 'PodMonitor'
  const matchLabels = isOfPods
    ? selectorLabels(router, 'router')
    : { [metricsLabel]: router.metadata.name }
  return {
    ...childOf(router, isOfPods ? podMonitors : serviceMonitors, { labels }),
    spec: {
      selector: { matchLabels },
      [isOfPods ? 'podMetricsEndpoints' : 'endpoints']: [scrape],
    },
  }
}

/**
 * Builds the policy: which clients may reach the pods, and which ports the pods may connect to.
 * @param others ports of other configs that pods still run or may run again
 */
export function buildNetworkPolicy(
  router: RpcRouter,
  config: RenderedConfig,
  others: readonly PodPorts[],
  {
    allowLinkLocal,
    operatorNamespace = null,
  }: { readonly allowLinkLocal: boolean; readonly operatorNamespace?: string | null },
): NetworkPolicy | null {
  const { networkPolicy } = router.spec
  if (!networkPolicy.enabled) return null
  const { listen, egress } = unitePorts(podPorts(router, config), others)
  return {
    ...childOf(router, networkPolicies),
    spec: {
      podSelector: { matchLabels: { ...selectorLabels(router, 'router') } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        ingress(networkPolicy.clients, listen),
        ingress(networkPolicy.monitoring, [metricsPort], operatorPeers(operatorNamespace)),
      ],
      egress: egressRules(egress, !allowLinkLocal && { to: beyondTheLink }),
    },
  }
}

function ingress(
  peers: readonly NetworkPolicyPeer[] | undefined,
  ports: readonly number[],
  others: readonly V1NetworkPolicyPeer[] = [],
): IngressRule {
  return { ports: ports.map(tcp), ...(peers && { from: [...peers.map(peer), ...others] }) }
}

/** Selects the operator's pods by the one label that installations have no reason to change. */
function operatorPeers(namespace: string | null): readonly V1NetworkPolicyPeer[] {
  if (namespace === null) return []
  const matchLabels = { 'app.kubernetes.io/component': 'operator' }
  return [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      podSelector: { matchLabels },
    },
  ]
}

function peer({ namespaceSelector, podSelector }: NetworkPolicyPeer): V1NetworkPolicyPeer {
  return {
    ...(namespaceSelector && { namespaceSelector }),
    ...(podSelector && { podSelector }),
  } as V1NetworkPolicyPeer
}

function tcp(port: number): V1NetworkPolicyPort {
  return { protocol: 'TCP', port }
}

/** Allows DNS and the ports in the config; any port if one is in a Secret. */
function egressRules(
  ports: PodPorts['egress'],
  to: Pick<V1NetworkPolicyEgressRule, 'to'> | false,
): V1NetworkPolicyEgressRule[] {
  // To any address, because a node-local DNS cache has a link-local one. OpenShift's DNS pods use
  // port 5353.
  const dns = { ports: [53, 5353].flatMap((port) => [{ protocol: 'UDP', port }, tcp(port)]) }
  return [dns, { ...to, ...(ports !== 'any' && { ports: ports.map(tcp) }) }]
}

/** All pods, which some networks do not match by IP block, and all but link-local addresses. */
const beyondTheLink: V1NetworkPolicyPeer[] = [
  { namespaceSelector: {} },
  { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
  { ipBlock: { cidr: '::/0', except: ['fe80::/10'] } },
]
