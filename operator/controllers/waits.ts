// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject } from '../kube/object.ts'
import type { Resource } from '../kube/resource.ts'
import {
  configMaps,
  deployments,
  horizontalPodAutoscalers,
  monitorKinds,
  networkPolicies,
  type NetworkPolicy,
  podDisruptionBudgets,
} from '../resources/kinds.ts'
import { opensAsMuch } from '../resources/network-policy.ts'

/*
 * What an object that cannot be applied holds back. Most of them are one behind the other, each needed by those that come
 * after it: what pods start with (of a Redis its Secret, Service, NetworkPolicy and StatefulSet; the ConfigMap, the
 * ServiceAccount, the NetworkPolicy), then the Deployment, then the Service, which clients go by. A link that fails stops
 * those behind it, and the pods go on as they are, unless what is there of it is enough. Some objects are aside: they
 * stop nothing, and nothing stops them.
 */

const aside: readonly Resource[] = [
  // Without it the count stays as it is: it is handed over before it is given up.
  horizontalPodAutoscalers,
  podDisruptionBudgets,
  ...monitorKinds,
]

/** Whether pods start, and clients reach them, without objects of this kind. */
export function isAside({ plural }: Resource): boolean {
  return aside.some((each) => each.plural === plural)
}

/**
 * Whether what comes after an object that could not be applied can do with what is there of it.
 *
 * @param present what is there; null when there is none of the router's
 * @param hasPods whether the pods that it is for have been started already
 */
export function isEnough(
  wanted: KubeObject,
  present: KubeObject | null,
  hasPods: boolean,
): boolean {
  switch (wanted.kind) {
    case configMaps.kind:
      // Its name tells of its content: new pods need this one and no other.
      return false
    case deployments.kind:
      // The Service that is there fits the pods that are there.
      return false
    case networkPolicies.kind:
      // Pods are not started without their shield. Those that lost it are no safer with an old config.
      if (present === null) return hasPods
      return opensAsMuch(present as NetworkPolicy, wanted as NetworkPolicy)
    default:
      return present !== null
  }
}
