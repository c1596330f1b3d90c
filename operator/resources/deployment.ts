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

const usualCpu = '250m'
const usualMemory = '512Mi'
/** Between the end of the drain and the kill. */
const slackSeconds = 10

/**
 * The config of the pods. It changes in what they take over while they run. Any other config is another ConfigMap, so that
 * an old pod which starts again in the middle of a rollout finds one that it can serve, and a rollback really goes back.
 */
export function buildConfigMap(router: RpcRouter, config: RenderedConfig): ConfigMap {
  const name = configMapName(router, config.fixedHash)
  const annotations = { [fixedHashAnnotation]: config.fixedHash }
  return { ...childOf(router, configMaps, { name, annotations }), data: config.data }
}

/** The ConfigMap with the last config that a pod reported to serve. No pod mounts it. */
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
 * The pods. With autoscaling it says nothing of `replicas`: the count has one owner at a time.
 *
 * @param usualImage of a router whose spec names none
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
      // Not of the pods: they are not replaced for these.
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
  /** Time for chain specs to load, two minutes at most. */
  startupProbe: { ...get('/livez'), periodSeconds: 2, failureThreshold: 60 },
  /** Whether clients are sent here. Fails as soon as a stop begins. */
  readinessProbe: { ...get('/readyz'), periodSeconds: 5, failureThreshold: 2 },
  /** Whether the process works; upstreams have no part in it, or their outage would restart the fleet. */
  livenessProbe: { ...get('/livez'), periodSeconds: 10, failureThreshold: 6 },
}

/** With the usual amount of what is neither requested nor limited. No CPU limit: it would only add latency. */
function withUsual({ requests = {}, limits = {} }: Resources = {}): Resources {
  const isSet = (name: string) => name in requests || name in limits
  const cpu = isSet('cpu') ? {} : { cpu: usualCpu }
  const memory = isSet('memory') ? {} : { memory: usualMemory }
  return { requests: { ...cpu, ...memory, ...requests }, limits: { ...memory, ...limits } }
}

/** The one container of a router's pod. */
function routerContainer(
  { spec }: RpcRouter,
  config: RenderedConfig,
  image: string,
  chainIdOf: (chainId: string) => string,
): V1Container {
  const { imagePullPolicy, resources, shutdown } = spec.pod
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
    resources: resourcesOf(withUsual(resources)),
    ...probes,
    // Goes on as before until all clients and proxies have learnt that it ends.
    ...(shutdown.preStopSeconds > 0 && {
      lifecycle: { preStop: { sleep: { seconds: shutdown.preStopSeconds } } },
    }),
    // The status of a pod that does not start shows the end of its log.
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

/** What the profile "restricted" of Pod Security wants of a pod. The image says which user. */
export const podSecurity: Plain<V1PodSecurityContext> = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** What the profile "restricted" of Pod Security requires of a container, and a read-only root. */
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

/** What all pods have: no token, and where they may run. */
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

/** How pods are spread: over nodes and zones, unless the user says otherwise. */
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
    // Old pods, which go anyway, do not count in a rollout.
    ...(labelSelector === undefined && { matchLabelKeys: ['pod-template-hash'] }),
  }))
}
