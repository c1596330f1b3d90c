// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1NetworkPolicyEgressRule,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node'
import type { NetworkPolicyPeer } from '../api/network-policy.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName } from '../translate/object-names.ts'
import { metricsPort } from '../translate/pod-paths.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { childOf } from './child.ts'
import { egressPorts } from './egress-ports.ts'
import { type IngressRule, type NetworkPolicy, networkPolicies } from './kinds.ts'
import { selectorLabels } from './labels.ts'

/** Who may reach the pods, and by which ports they may reach others. */
export function buildNetworkPolicy(
  router: RpcRouter,
  config: RenderedConfig,
): NetworkPolicy | null {
  const { networkPolicy, endpoints } = router.spec
  if (!networkPolicy.enabled) return null
  const name = routerObjectName(router)
  return {
    ...childOf(router, networkPolicies, { name, component: 'router' }),
    spec: {
      podSelector: { matchLabels: { ...selectorLabels(router, 'router') } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        ingress(
          networkPolicy.clients,
          endpoints.map(({ port }) => port),
        ),
        ingress(networkPolicy.monitoring, [metricsPort]),
      ],
      egress: egress(router, config),
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
function egress(router: RpcRouter, config: RenderedConfig): V1NetworkPolicyEgressRule[] {
  const ports = egressPorts(router, config)
  if (ports === 'any') return [{}]
  const dns = [{ protocol: 'UDP', port: 53 }, tcp(53)]
  return [{ ports: dns }, { ports: ports.map(tcp) }]
}
