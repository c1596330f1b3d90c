// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { boolean, list, object } from './field.ts'
import { labelSelector } from './label-selector.ts'

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
