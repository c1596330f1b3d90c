// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1Affinity, V1PodSpec, V1TopologySpreadConstraint } from '@kubernetes/client-node'
import type { Pod } from '../api/pod.ts'

/** Where pods may run; without wishes of the user's they are spread over nodes and zones. */
export function schedulingOf(
  pod: Pick<
    Pod,
    'nodeSelector' | 'tolerations' | 'affinity' | 'priorityClassName' | 'topologySpreadConstraints'
  >,
  selector: Readonly<Record<string, string>>,
): Partial<V1PodSpec> {
  const { nodeSelector, tolerations, affinity, priorityClassName } = pod
  return {
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations: tolerations as NonNullable<V1PodSpec['tolerations']> }),
    ...(affinity && { affinity: affinity as V1Affinity }),
    ...(priorityClassName && { priorityClassName }),
    topologySpreadConstraints: spread(pod, selector),
  }
}

function spread(
  { topologySpreadConstraints }: Pick<Pod, 'topologySpreadConstraints'>,
  selector: Readonly<Record<string, string>>,
): V1TopologySpreadConstraint[] {
  const constraints =
    topologySpreadConstraints ??
    ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway' as const,
      labelSelector: undefined,
    }))
  return constraints.map(({ labelSelector, ...constraint }) => ({
    ...constraint,
    labelSelector: (labelSelector as V1TopologySpreadConstraint['labelSelector']) ?? {
      matchLabels: { ...selector },
    },
    // Old pods, which go anyway, do not count in a rollout.
    ...(labelSelector === undefined && { matchLabelKeys: ['pod-template-hash'] }),
  }))
}
