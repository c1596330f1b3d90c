// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  V1Affinity,
  V1Container,
  V1EnvVar,
  V1PodSpec,
  V1Probe,
  V1Volume,
  V1VolumeMount,
  V1PodSecurityContext,
  V1SecurityContext,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node'
import type { Pod } from '../api/pod.ts'
import type { Resources } from '../api/quantity.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import {
  configDirectory,
  configFile,
  metricsPort,
  objectName,
  secretDirectory,
  wantedReplicas,
} from '../translate/object-names.ts'
import type { SecretFile } from '../translate/reference-data.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { type ConfigMap, configMaps, type Deployment, deployments, type Plain } from './kinds.ts'
import {
  childOf,
  childLabels,
  fixedHashAnnotation,
  contentHashAnnotation,
  secretHashAnnotation,
  selectorLabels,
} from './labels.ts'
import { patched } from './patched.ts'
import { listenerNames, podPorts, portAnnotations } from './ports.ts'

/** For each worker. */
const usual = { cpuMillis: 250, memoryMiB: 512 }
/** Time between the end of the drain and the kill. */
const slackSeconds = 10

/**
 * Builds the config of the pods. Only settings that pods reload change in place; any other change
 * makes a new ConfigMap. So a restarted old pod, or a rollback, finds its own config.
 */
export function buildConfigMap(router: RpcRouter, config: RenderedConfig): ConfigMap {
  const name = configMapName(router, config.fixedHash)
  const annotations = { [fixedHashAnnotation]: config.fixedHash }
  return { ...childOf(router, configMaps, { name, annotations }), data: config.data }
}

/** Name of the ConfigMap with the last config that a pod reported to serve. No pod mounts it. */
export function lastGoodName(router: Pick<RpcRouter, 'metadata'>): string {
  return `${objectName(router)}-last-good`
}

export function buildLastGood(
  router: RpcRouter,
  { fixedHash, data }: Pick<RenderedConfig, 'fixedHash' | 'data'>,
): ConfigMap {
  const annotations = { [fixedHashAnnotation]: fixedHash }
  return { ...childOf(router, configMaps, { name: lastGoodName(router), annotations }), data }
}

export function configMapName(router: RpcRouter, fixedHash: string): string {
  return `${objectName(router)}-${fixedHash}`
}

/**
 * Builds the Deployment. With autoscaling it has no `replicas`, because the count has one owner.
 * @param usualImage default for a spec without an image
 */
export function buildDeployment(
  router: RpcRouter,
  config: RenderedConfig,
  usualImage: string,
  chainIdOf: (chainId: string) => string,
): Deployment {
  const { spec } = router
  const { labels, annotations, rollout, image = usualImage } = spec.pod
  return {
    ...childOf(router, deployments, {
      image,
      // Not on the pods, so that changes do not replace them.
      annotations: {
        [contentHashAnnotation]: config.contentHash,
        [secretHashAnnotation]: config.keyHash,
        ...config.marks,
      },
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
            [fixedHashAnnotation]: config.fixedHash,
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
  const spec = {
    serviceAccountName: pod.serviceAccountName ?? objectName(router),
    ...commonPodSpec(pod),
    ...(pod.dnsConfig && { dnsConfig: pod.dnsConfig }),
    securityContext: podSecurity,
    terminationGracePeriodSeconds:
      terminationGracePeriodSeconds ?? preStopSeconds + drainSeconds + slackSeconds,
    ...(pod.affinity && { affinity: pod.affinity as V1Affinity }),
    topologySpreadConstraints: spreadOf(pod, selectorLabels(router, 'router')),
    containers: [container],
    volumes: [
      { name: 'config', configMap: { name: configMapName(router, config.fixedHash) } },
      ...secretVolume(config.files),
      { name: 'tmp', emptyDir: {} },
      ...(pod.volumes ?? []),
    ],
  }
  return pod.patch === undefined ? spec : (patched(spec, pod.patch) as V1PodSpec)
}

function secretVolume(files: readonly SecretFile[]): V1Volume[] {
  if (files.length === 0) return []
  const sources = files.map(({ path, secret }) => ({
    secret: { name: secret.name, items: [{ key: secret.key, path }] },
  }))
  return [{ name: 'secrets', projected: { sources } }]
}

function get(path: string): Plain<V1Probe> {
  return { httpGet: { path, port: 'metrics', scheme: 'HTTP' }, timeoutSeconds: 3 }
}

const probes = {
  /** Allows two minutes to load chain specs. */
  startupProbe: { ...get('/livez'), periodSeconds: 2, failureThreshold: 60 },
  /** Controls client traffic. Fails as soon as a shutdown starts. */
  readinessProbe: { ...get('/readyz'), periodSeconds: 5, failureThreshold: 2 },
  /** Ignores upstreams, because otherwise their outage would restart the fleet. */
  livenessProbe: { ...get('/livez'), periodSeconds: 10, failureThreshold: 6 },
}

/** Adds default requests and limits. There is no CPU limit, which would only add latency. */
function withUsual({ resources = {}, workers = 1 }: Pod): Resources {
  const { requests = {}, limits = {} } = resources
  const isSet = (name: string) => name in requests || name in limits
  const cpu = isSet('cpu') ? {} : { cpu: `${usual.cpuMillis * workers}m` }
  const memory = isSet('memory') ? {} : { memory: `${usual.memoryMiB * workers}Mi` }
  return { requests: { ...cpu, ...memory, ...requests }, limits: { ...memory, ...limits } }
}

function routerContainer(
  { spec }: RpcRouter,
  config: RenderedConfig,
  image: string,
  chainIdOf: (chainId: string) => string,
): V1Container {
  const { imagePullPolicy, shutdown } = spec.pod
  const variables = [
    ...config.variables.map(({ name, secret }) => ({ name, valueFrom: { secretKeyRef: secret } })),
    ...config.environment,
    ...(spec.pod.env ?? []),
  ]
  const listeners = listenerNames(spec.endpoints, chainIdOf)
  const ports = [
    ...spec.endpoints.map(({ port }, index) => ({
      name: listeners[index] ?? '',
      containerPort: port,
    })),
    { name: 'metrics', containerPort: metricsPort },
  ]
  return {
    name: 'router',
    image,
    imagePullPolicy,
    args: [`${configDirectory}/${configFile}`],
    ...(variables.length > 0 && { env: variables as V1EnvVar[] }),
    ports: ports.map((port) => ({ ...port, protocol: 'TCP' })),
    resources: resourcesOf(withUsual(spec.pod)),
    ...probes,
    // Keeps serving until all clients and proxies know that the pod is terminating.
    ...(shutdown.preStopSeconds > 0 && {
      lifecycle: { preStop: { sleep: { seconds: shutdown.preStopSeconds } } },
    }),
    // Shows the end of the log in the status of a pod that fails to start.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: containerSecurity,
    volumeMounts: [...volumeMounts(config), ...(spec.pod.volumeMounts ?? [])],
  }
}

function volumeMounts({ files }: RenderedConfig): V1VolumeMount[] {
  return [
    { name: 'config', mountPath: configDirectory, readOnly: true },
    ...(files.length > 0 ? [{ name: 'secrets', mountPath: secretDirectory, readOnly: true }] : []),
    { name: 'tmp', mountPath: '/tmp' },
  ]
}

/** Requirements of the Pod Security profile "restricted" for pods. The image sets the user. */
export const podSecurity: Plain<V1PodSecurityContext> = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** The same for containers, plus a read-only root file system. */
export const containerSecurity: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Converts quantities to strings, as the API returns them. */
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

/** Returns fields common to all pods: no token, and scheduling. */
export function commonPodSpec(pod: Pod): Partial<V1PodSpec> {
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName } = pod
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(imagePullSecrets && { imagePullSecrets: [...imagePullSecrets] }),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName && { priorityClassName }),
  }
}

/** Spreads pods over nodes and zones, unless the spec has its own constraints. */
function spreadOf(
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
    // Old pods do not count during a rollout.
    ...(labelSelector === undefined && { matchLabelKeys: ['pod-template-hash'] }),
  }))
}
