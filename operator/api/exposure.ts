// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { boolean, list, object, oneOf, text } from './field.ts'
import { annotationMap, labelKey, labelMap, labelSelector } from './labels.ts'
import { headerName } from './names.ts'
import type { z } from 'zod'

/** @param rule in CEL */
function network(rule: string) {
  const rules = { '{field} must be networks such as 10.0.0.0/8': rule }
  return text('A network.', { example: '10.0.0.0/8', max: 64, rules })
}

/** How the router determines client addresses behind proxies. */
export const proxyFields = {
  trustedProxies: list(
    'Networks or addresses of the proxies in front of the router. Behind them, clientAddressHeader names the client. Unset: the address of the connection is the client.',
    network('isCIDR(self) || isIP(self)'),
    { max: 64, kind: 'set' },
  ).optional(),
  clientAddressHeader: headerName(
    'Header in which trustedProxies name the client. Ignored from other addresses, which could forge it. Unset: X-Forwarded-For.',
    'X-Real-IP',
  ).optional(),
}

export const serviceSettings = object(
  'The Service in front of the pods.',
  {
    type: oneOf(
      'Type of the Service. The router does not authenticate clients: keep it inside the cluster or behind an edge proxy.',
      ['ClusterIP', 'NodePort', 'LoadBalancer'],
    ).default('ClusterIP'),
    annotations: annotationMap('Annotations of the Service, for load balancers and DNS.', {
      example: { 'external-dns.alpha.kubernetes.io/hostname': 'rpc.example.com' },
      max: 32,
    }).optional(),
    labels: labelMap('Additional labels of the Service.', {
      example: { team: 'payments' },
      max: 32,
      rules: {
        'labels must not begin with app.kubernetes.io/, which the operator sets':
          "!self.exists(k, k.startsWith('app.kubernetes.io/'))",
      },
    }).optional(),
    loadBalancerClass: labelKey(
      'Implementation of a Service of type LoadBalancer.',
      'service.k8s.aws/nlb',
    ).optional(),
    loadBalancerSourceRanges: list(
      'Networks that may reach a Service of type LoadBalancer.',
      network('isCIDR(self)'),
      { max: 64, kind: 'set' },
    ).optional(),
    externalTrafficPolicy: oneOf(
      'Whether external traffic stays on the node where it arrives.',
      ['Cluster', 'Local'],
      'Local',
    ).optional(),
    trafficDistribution: oneOf(
      'Pods preferred for traffic within the cluster. PreferSameZone and PreferSameNode need Kubernetes 1.34. Unset: no preference.',
      ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
      'PreferClose',
    ).optional(),
    ipFamilyPolicy: oneOf(
      "IPv4, IPv6 or both. Unset: the cluster's default.",
      ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
      'PreferDualStack',
    ).optional(),
  },
  {
    'loadBalancerClass and loadBalancerSourceRanges must be set only with type LoadBalancer':
      "self.type == 'LoadBalancer' || (!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges))",
    'externalTrafficPolicy must be set only with type NodePort or LoadBalancer':
      "self.type != 'ClusterIP' || !has(self.externalTrafficPolicy)",
  },
)

const peer = object(
  'Pods that may connect.',
  {
    namespaceSelector: labelSelector(
      'Labels of namespaces; empty: all. Unset: the namespace of the router.',
      { matchLabels: { 'kubernetes.io/metadata.name': 'apps' } },
    ).optional(),
    podSelector: labelSelector('Labels of pods; empty or unset: all.', {
      matchLabels: { app: 'wallet' },
    }).optional(),
  },
  {
    'a peer must have a namespaceSelector, a podSelector or both':
      'has(self.namespaceSelector) || has(self.podSelector)',
  },
)

export const networkPolicy = object(
  'Clients of the pods, and destinations that the pods may reach.',
  {
    enabled: boolean(
      'Whether to create a NetworkPolicy. It allows clients to reach the endpoints, and pods to reach DNS, Redis and the ports in the URLs of their upstreams, except at link-local addresses. If an upstream is behind a Service with another targetPort, add your own policy for that port.',
    ).default(true),
    clients: list('Clients that may reach the endpoints. Unset: all.', peer, {
      min: 1,
      max: 32,
      kind: 'atomic',
    }).optional(),
    monitoring: list('Clients that may reach the metrics. Unset: all.', peer, {
      example: [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
      ],
      min: 1,
      max: 32,
      kind: 'atomic',
    }).optional(),
  },
)

export type NetworkPolicyPeer = z.output<typeof peer>
