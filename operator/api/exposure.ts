// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { boolean, list, object, oneOf, text, textMap } from './field.ts'
import { labelKey, labelMap, labelSelector } from './labels.ts'
import type { z } from 'zod'

/** The Service before the pods. */
export const serviceSettings = object(
  {
    type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], {
      description:
        'Type of the Service. The router authenticates nobody: keep it inside, or behind an edge.',
      example: 'ClusterIP',
    }).default('ClusterIP'),
    annotations: textMap({
      description: 'Annotations of the Service, for load balancers and DNS.',
      example: { 'external-dns.alpha.kubernetes.io/hostname': 'rpc.example.com' },
      max: 32,
      maxValueLength: 4096,
    }).optional(),
    labels: labelMap('labels', {
      description: 'Further labels of the Service.',
      example: { team: 'payments' },
      max: 32,
      rules: [
        {
          rule: "!self.exists(k, k.startsWith('app.kubernetes.io/'))",
          message: 'labels must not begin with app.kubernetes.io/, which the operator sets',
        },
      ],
    }).optional(),
    loadBalancerClass: labelKey('loadBalancerClass', {
      description: 'Which implementation serves a Service of type LoadBalancer.',
      example: 'service.k8s.aws/nlb',
    }).optional(),
    loadBalancerSourceRanges: list(
      text({
        description: 'A network.',
        example: '10.0.0.0/8',
        max: 64,
        rules: [
          {
            rule: 'isCIDR(self)',
            message: 'loadBalancerSourceRanges must be networks such as 10.0.0.0/8',
          },
        ],
      }),
      {
        description: 'Networks that may reach a Service of type LoadBalancer.',
        example: ['10.0.0.0/8'],
        max: 64,
        kind: 'set',
      },
    ).optional(),
    externalTrafficPolicy: oneOf(['Cluster', 'Local'], {
      description: 'Whether traffic from outside stays on the node where it arrives.',
      example: 'Local',
    }).optional(),
    trafficDistribution: oneOf(['PreferClose', 'PreferSameZone', 'PreferSameNode'], {
      description: 'Which pods are preferred for traffic from inside. Unset: all alike.',
      example: 'PreferClose',
    }).optional(),
    ipFamilyPolicy: oneOf(['SingleStack', 'PreferDualStack', 'RequireDualStack'], {
      description: 'IPv4, IPv6 or both. Unset: as the cluster does.',
      example: 'PreferDualStack',
    }).optional(),
  },
  {
    description: 'The Service before the pods.',
    example: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8'] },
    rules: [
      {
        rule: "self.type == 'LoadBalancer' || (!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges))",
        message:
          'loadBalancerClass and loadBalancerSourceRanges must be set with type LoadBalancer alone',
      },
      {
        rule: "self.type != 'ClusterIP' || !has(self.externalTrafficPolicy)",
        message: 'externalTrafficPolicy must be set with type NodePort or LoadBalancer alone',
      },
    ],
  },
)

const peer = object(
  {
    namespaceSelector: labelSelector({
      description: 'Labels of namespaces; empty: all. Unset: the namespace of the router.',
      example: { matchLabels: { 'kubernetes.io/metadata.name': 'apps' } },
    }).optional(),
    podSelector: labelSelector({
      description: 'Labels of pods; empty or unset: all.',
      example: { matchLabels: { app: 'wallet' } },
    }).optional(),
  },
  {
    description: 'Pods that may connect.',
    example: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'apps' } } },
    rules: [
      {
        rule: 'has(self.namespaceSelector) || has(self.podSelector)',
        message: 'a peer must have a namespaceSelector, a podSelector or both',
      },
    ],
  },
)

/** Who may reach the pods, and whom they may reach. */
export const networkPolicy = object(
  {
    enabled: boolean({
      description:
        'Whether a NetworkPolicy is made. It lets clients reach the endpoints, and the pods reach DNS, Redis and the ports in the URLs of their upstreams. Behind a Service whose targetPort differs, add a policy of your own for that port.',
      example: true,
    }).default(true),
    clients: list(peer, {
      description: 'Who may reach the endpoints. Unset: everyone.',
      example: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'apps' } } }],
      min: 1,
      max: 32,
      kind: 'atomic',
    }).optional(),
    monitoring: list(peer, {
      description: 'Who may reach the metrics. Unset: everyone.',
      example: [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
      ],
      min: 1,
      max: 32,
      kind: 'atomic',
    }).optional(),
  },
  {
    description: 'Who may reach the pods, and whom they may reach.',
    example: { clients: [{ podSelector: { matchLabels: { app: 'wallet' } } }] },
  },
)

export type NetworkPolicyPeer = z.output<typeof peer>
