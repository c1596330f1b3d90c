// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { list, object, oneOf, text, textMap } from './field.ts'
import { labelKey, labelMap } from './label-forms.ts'

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
