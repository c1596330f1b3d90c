// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V2MetricSpec } from '@kubernetes/client-node'
import type { Autoscaling } from '../api/pod.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName } from '../translate/object-names.ts'
import { childOf } from './child.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalers } from './kinds.ts'

const usualCpuPercent = 70

/** Scales the Deployment by load: up at once, down slowly, since each pod holds connections and sessions. */
export function buildAutoscaler(router: RpcRouter): HorizontalPodAutoscaler | null {
  const { autoscaling } = router.spec
  if (autoscaling === undefined) return null
  const name = routerObjectName(router)
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
