// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { V1Container, V1PodSpec, V1Volume } from '@kubernetes/client-node'
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName, wantedReplicas } from '../translate/object-names.ts'
import type { SecretFile } from '../translate/reference-data.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import type { BuildContext } from './build-context.ts'
import { childOf } from './child.ts'
import { configMapName } from './config-map.ts'
import { type Deployment, deployments } from './kinds.ts'
import {
  childLabels,
  configHashAnnotation,
  secretHashAnnotation,
  selectorLabels,
} from './labels.ts'
import { podPorts, portAnnotations } from './pod-ports.ts'
import { podSecurity } from './pod-security.ts'
import { routerContainer } from './router-container.ts'
import { schedulingOf } from './scheduling.ts'

/**
 * The pods. With autoscaling it says nothing of `replicas`: the count has one owner at a time.
 *
 * @param context with the image of a router whose spec names none
 */
export function buildDeployment(
  router: RpcRouter,
  config: RenderedConfig,
  { images, chainIdOf }: Pick<BuildContext, 'images' | 'chainIdOf'>,
): Deployment {
  const { spec } = router
  const { labels, annotations, rollout } = spec.pod
  const image = spec.pod.image ?? images.router
  return {
    ...childOf(router, deployments, {
      name: routerObjectName(router),
      component: 'router',
      image,
      annotations: { [configHashAnnotation]: config.configHash },
    }),
    spec: {
      ...(spec.autoscaling === undefined && { replicas: wantedReplicas(spec) }),
      selector: { matchLabels: { ...selectorLabels(router, 'router') } },
      minReadySeconds: rollout.minReadySeconds,
      progressDeadlineSeconds: rollout.progressDeadlineSeconds,
      revisionHistoryLimit: rollout.revisionHistoryLimit,
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: rollout.maxSurge },
      },
      template: {
        metadata: {
          labels: { ...labels, ...childLabels(router, 'router', image) },
          annotations: {
            ...annotations,
            [configHashAnnotation]: config.configHash,
            [secretHashAnnotation]: config.secretHash,
            ...portAnnotations(podPorts(router, config)),
          },
        },
        spec: podSpec(router, config, routerContainer(router, config, image, chainIdOf)),
      },
    },
  }
}

function podSpec(router: RpcRouter, config: RenderedConfig, container: V1Container): V1PodSpec {
  const { pod } = router.spec
  const { preStopSeconds, drainSeconds, terminationGracePeriodSeconds } = pod.shutdown
  return {
    serviceAccountName: routerObjectName(router),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity,
    terminationGracePeriodSeconds:
      terminationGracePeriodSeconds ?? preStopSeconds + drainSeconds + slackSeconds,
    ...(pod.imagePullSecrets && { imagePullSecrets: [...pod.imagePullSecrets] }),
    ...schedulingOf(pod, selectorLabels(router, 'router')),
    containers: [container],
    volumes: [
      { name: 'config', configMap: { name: configMapName(router, config.configHash) } },
      ...secretVolume(config.files),
      { name: 'tmp', emptyDir: {} },
    ],
  }
}

/** Between the end of the drain and the kill. */
const slackSeconds = 10

function secretVolume(files: readonly SecretFile[]): V1Volume[] {
  if (files.length === 0) return []
  const sources = files.map(({ path, secret }) => ({
    secret: { name: secret.name, items: [{ key: secret.key, path }] },
  }))
  return [{ name: 'secrets', projected: { sources } }]
}
