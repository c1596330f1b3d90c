// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V2MetricSpec } from '@kubernetes/client-node'
import type { Autoscaling } from '../api/pod.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Component, mostReplicas, objectName } from '../translate/object-names.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { buildConfigMap, buildDeployment } from './deployment.ts'
import {
  type PodDisruptionBudget,
  podDisruptionBudgets,
  type ServiceAccount,
  serviceAccounts,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
} from './kinds.ts'
import { childOf, selectorLabels } from './labels.ts'
import type { PodPorts } from './ports.ts'
import { buildMetricsService, buildMonitor, buildNetworkPolicy, buildService } from './service.ts'

/** Default images, and default pull secrets for routers without their own. */
export interface Images {
  readonly router: string
  readonly redis: string
  readonly pullSecrets?: readonly string[]
}

/** Adds the default pull secrets to a router without its own. */
export function withPullSecrets(router: RpcRouter, { pullSecrets = [] }: Images): RpcRouter {
  const { spec } = router
  if (pullSecrets.length === 0 || spec.pod.imagePullSecrets !== undefined) return router
  const imagePullSecrets = pullSecrets.map((name) => ({ name }))
  return { ...router, spec: { ...spec, pod: { ...spec.pod, imagePullSecrets } } }
}

/** Inputs of a router's children other than its config. */
export interface BuildContext {
  readonly images: Images
  /** Kinds of the Prometheus operator that exist in the cluster. */
  readonly monitors: ReadonlySet<string>
  /** Returns the id of a chain, given its id or an alias. */
  readonly chainIdOf: (chainId: string) => string
  /** Whether pods may connect to link-local addresses. */
  readonly allowLinkLocal: boolean
  /** Namespace of an operator that observes the pods; null if none does. */
  readonly operatorNamespace?: string | null
}

/**
 * Builds every object of a router except its Redis, in the order of application.
 * @param others ports of the router's other retained configs
 */
export function buildFleet(
  router: RpcRouter,
  config: RenderedConfig,
  { images, chainIdOf, monitors, ...context }: BuildContext,
  others: readonly PodPorts[] = [],
): readonly KubeObject[] {
  const { spec } = router
  const { type } = spec.monitoring
  const objects = [
    buildConfigMap(router, config),
    buildServiceAccount(router),
    buildNetworkPolicy(router, config, others, context),
    buildAutoscaler(router),
    buildDeployment(withPullSecrets(router, images), config, images.router, chainIdOf),
    // Clients use the Service, so it changes only together with the pods.
    buildService(router, chainIdOf),
    type === 'ServiceMonitor' ? buildMetricsService(router) : null,
    // A single replica has no budget, because it could never be evicted.
    mostReplicas(spec) < 2
      ? null
      : buildDisruptionBudget(router, 'router', spec.pod.maxUnavailable),
    type !== 'None' && monitors.has(type) ? buildMonitor(router, type) : null,
  ]
  return objects.filter((object) => object !== null)
}

/** Builds a ServiceAccount without permissions: the pods never talk to the API server. */
function buildServiceAccount(router: RpcRouter): ServiceAccount {
  return { ...childOf(router, serviceAccounts), automountServiceAccountToken: false }
}

/** Limits how many pods a node drain may evict at the same time. */
export function buildDisruptionBudget(
  router: RpcRouter,
  component: Component,
  maxUnavailable: number | string,
): PodDisruptionBudget {
  return {
    ...childOf(router, podDisruptionBudgets, { component }),
    spec: {
      maxUnavailable,
      // A pod that is not ready must not block a drain.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { ...selectorLabels(router, component) } },
    },
  }
}

const usualCpuPercent = 70

/** Scales up immediately and down slowly, because each pod has connections and sessions. */
function buildAutoscaler(router: RpcRouter): HorizontalPodAutoscaler | null {
  const { autoscaling } = router.spec
  if (autoscaling === undefined) return null
  const name = objectName(router)
  return {
    ...childOf(router, horizontalPodAutoscalers),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: autoscaling.minReplicas,
      maxReplicas: autoscaling.maxReplicas,
      metrics: metricsOf(autoscaling),
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: autoscaling.scaleDownStabilizationSeconds,
          selectPolicy: 'Max',
          policies: [
            { type: 'Pods', value: 1, periodSeconds: 60 },
            { type: 'Percent', value: 10, periodSeconds: 60 },
          ],
        },
      },
    },
  }
}

function metricsOf(autoscaling: Autoscaling): V2MetricSpec[] {
  const { targetCpuUtilizationPercent: cpu, targetMemoryUtilizationPercent: memory } = autoscaling
  const usual = memory === undefined ? usualCpuPercent : undefined
  return [...utilization('cpu', cpu ?? usual), ...utilization('memory', memory)]
}

function utilization(name: string, averageUtilization: number | undefined): V2MetricSpec[] {
  if (averageUtilization === undefined) return []
  return [
    { type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } },
  ]
}
