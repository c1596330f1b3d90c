// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1Container,
  V1PodSecurityContext,
  V1PodSpec,
  V1SecurityContext,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node'
import type { Pod } from '../api/pod.ts'
import type { Resources } from '../api/quantity.ts'
import type { Plain } from './kinds.ts'

/** What the profile "restricted" of Pod Security wants of a pod. The image says which user. */
export const podSecurity: Plain<V1PodSecurityContext> = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** What the profile "restricted" of Pod Security wants of a container, and a root that nobody writes to. */
export const containerSecurity: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Quantities as texts, which is how the API gives them back. */
export function resourcesOf({
  requests,
  limits,
}: Resources): NonNullable<V1Container['resources']> {
  const texts = (amounts: NonNullable<Resources['limits']>) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
  return {
    ...(requests && { requests: texts(requests) }),
    ...(limits && { limits: texts(limits) }),
  }
}

/** Where pods may run. */
export function placementOf({
  nodeSelector,
  tolerations,
  priorityClassName,
}: Pick<Pod, 'nodeSelector' | 'tolerations' | 'priorityClassName'>): Partial<V1PodSpec> {
  return {
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations: tolerations as NonNullable<V1PodSpec['tolerations']> }),
    ...(priorityClassName && { priorityClassName }),
  }
}

/** How pods are spread: over nodes and zones, unless the user says otherwise. */
export function spreadOf(
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
