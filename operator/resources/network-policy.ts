// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node'
import type { NetworkPolicyPeer } from '../api/exposure.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { metricsPort } from '../translate/object-names.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { childOf } from './child.ts'
import { type IngressRule, type NetworkPolicy, networkPolicies } from './kinds.ts'
import { selectorLabels } from './labels.ts'
import { type PodPorts, podPorts, unitePorts } from './ports.ts'

/**
 * Who may reach the pods, and by which ports they may reach others.
 *
 * @param others ports of other configs that pods still run, or may run again: old pods need theirs to the end
 */
export function buildNetworkPolicy(
  router: RpcRouter,
  config: RenderedConfig,
  others: readonly PodPorts[],
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
        ingress(networkPolicy.monitoring, [metricsPort]),
      ],
      egress: egressRules(egress),
    },
  }
}

function ingress(
  peers: readonly NetworkPolicyPeer[] | undefined,
  ports: readonly number[],
): IngressRule {
  return { ports: ports.map(tcp), ...(peers && { from: peers.map(peer) }) }
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

/** DNS, and the ports of whatever the config names. One that is hidden in a Secret may be any. */
function egressRules(ports: PodPorts['egress']): V1NetworkPolicyEgressRule[] {
  if (ports === 'any') return [{}]
  const dns = [{ protocol: 'UDP', port: 53 }, tcp(53)]
  return [{ ports: dns }, { ports: ports.map(tcp) }]
}
