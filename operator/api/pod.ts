// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { at, integer, list, object, oneOf } from './field.ts'
import { group } from './group.ts'
import { annotationMap, labelKey, labelMap, subdomainName } from './labels.ts'
import { image, objectName } from './names.ts'
import { additionFields, partOfPod } from './pod-additions.ts'
import { countOrPercent, resources } from './quantity.ts'
import type { z } from 'zod'

const toleration = partOfPod('A tolerated taint', {}, { key: 'dedicated', value: 'rpc' })

const topologySpreadConstraint = partOfPod(
  'A spread constraint; defaults: maxSkew 1, whenUnsatisfiable ScheduleAnyway, and a selector of the pods of this router',
  {
    topologyKey: labelKey('Node label whose value is the domain.', 'topology.kubernetes.io/zone'),
    maxSkew: integer('Maximum difference of the pod counts of two domains.', [1, 1000]).default(1),
    whenUnsatisfiable: oneOf('Whether to schedule a pod that violates the constraint.', [
      'ScheduleAnyway',
      'DoNotSchedule',
    ]).default('ScheduleAnyway'),
  },
  { topologyKey: 'topology.kubernetes.io/zone' },
)

function affinityOf(what: string) {
  return partOfPod(what, {}, { preferredDuringSchedulingIgnoredDuringExecution: [] }).optional()
}

const schedulingFields = {
  nodeSelector: labelMap('Required labels of nodes.', {
    example: { 'kubernetes.io/arch': 'amd64' },
    max: 32,
  }).optional(),
  tolerations: list('Tolerated taints.', toleration, {
    example: [{ key: 'dedicated', operator: 'Equal', value: 'rpc', effect: 'NoSchedule' }],
    max: 32,
    kind: 'atomic',
  }).optional(),
  affinity: object('Affinity of the pods, as in the spec of a Pod.', {
    nodeAffinity: affinityOf('To nodes'),
    podAffinity: affinityOf('To other pods'),
    podAntiAffinity: affinityOf('Away from other pods'),
  }).optional(),
  topologySpreadConstraints: list(
    'Spread of the pods. Unset: over nodes and zones, where possible.',
    topologySpreadConstraint,
    {
      max: 8,
      kind: 'atomic',
      rules: {
        'topologySpreadConstraints must have different pairs of topologyKey and whenUnsatisfiable':
          "self.all(a, self.exists_one(b, a.topologyKey == b.topologyKey && (a.?whenUnsatisfiable.orValue('') == 'DoNotSchedule') == (b.?whenUnsatisfiable.orValue('') == 'DoNotSchedule')))",
      },
    },
  ).optional(),
  priorityClassName: subdomainName('Priority class of the pods.', 'production').optional(),
}

/** Annotations that kubelets, networks, meshes and clouds obey, which bypasses Pod Security. */
const privilegedAnnotation =
  /^(?:(?:container\.)?(?:apparmor|seccomp)\.security\.(?:alpha|beta)\.kubernetes\.io|iam\.amazonaws\.com|(?:[^/]*\.)?(?:cni\.cncf\.io|multus-cni\.io|projectcalico\.org|cilium\.io|ovn\.org|ovn\.kubernetes\.io)|(?:traffic\.sidecar|inject)\.istio\.io)\/|^sidecar\.istio\.io\/(?:uservolume|bootstrapoverride|proxyimage)|^config\.linkerd\.io\/(?:skip-|.*image)/

function faultOfAnnotation(key: string): string | null {
  if (!privilegedAnnotation.test(key)) return null
  return `the annotation ${key} is reserved for cluster administrators: it changes the confinement, the network, the mesh or the cloud role of a pod`
}

const shutdown = object(
  'Shutdown of a pod.',
  {
    preStopSeconds: integer(
      'Time for which a terminating pod keeps serving, so that all clients and proxies notice.',
      [0, 300],
    ).default(10),
    drainSeconds: integer(
      'Time to wait after that for calls in flight, and for idle connections, which close after their next answer.',
      [0, 3600],
    ).default(25),
    terminationGracePeriodSeconds: integer(
      'Time until the pod is killed. Unset: preStopSeconds + drainSeconds + 10.',
      [1, 7200],
      45,
    ).optional(),
  },
  {
    'terminationGracePeriodSeconds must be at least preStopSeconds + drainSeconds + 10': at(
      '.terminationGracePeriodSeconds',
      '!has(self.terminationGracePeriodSeconds) || self.terminationGracePeriodSeconds >= self.preStopSeconds + self.drainSeconds + 10',
    ),
  },
)

const rollout = object(
  'Rollout of changes.',
  {
    maxSurge: countOrPercent(
      'Additional pods during a rollout. No pod stops before its successor is ready.',
    ).default('25%'),
    minReadySeconds: integer(
      'Time for which a new pod must be ready before the next one is replaced.',
      [0, 3600],
    ).default(5),
    progressDeadlineSeconds: integer(
      'Time without progress after which a rollout is stalled.',
      [1, 86_400],
    ).default(600),
    revisionHistoryLimit: integer(
      'Number of old ReplicaSets, with their configs, to retain for kubectl rollout undo.',
      [0, 20],
    ).default(3),
  },
  {
    'progressDeadlineSeconds must be more than minReadySeconds + 90, since a pod with a dark chain becomes ready after 90 s':
      at('.progressDeadlineSeconds', 'self.progressDeadlineSeconds > self.minReadySeconds + 90'),
    'maxSurge must be more than 0, since no pod stops before its successor is ready': at(
      '.maxSurge',
      "!has(self.maxSurge) || !(string(self.maxSurge) in ['0', '0%'])",
    ),
  },
)

export const pod = object('The pods of the router.', {
  image: image(
    "Image of the router. Unset: the one of the operator's version.",
    'registry.example.com/rpc-router:1.2.0',
  ).optional(),
  imagePullPolicy: oneOf('When the image is pulled.', ['Always', 'IfNotPresent', 'Never']).default(
    'IfNotPresent',
  ),
  imagePullSecrets: list(
    "Secrets to pull images with. Unset: those of the operator's flag --image-pull-secrets.",
    object('A Secret of the same namespace.', { name: objectName('Name of the Secret.', 'pull') }),
    { max: 16, kind: ['name'] },
  ).optional(),
  workers: integer(
    'Processes that serve together in one pod, each on a core. More pods are usually better than more workers. Unset: 1.',
    [1, 64],
    4,
  ).optional(),
  resources: resources(
    'Resources of the container. Defaults, for each of workers: a CPU request of 250m, and a memory request and limit of 512Mi.',
  ).optional(),
  ...schedulingFields,
  labels: labelMap('Additional labels of the pods.', {
    example: { team: 'payments' },
    max: 32,
    rules: {
      [`labels must not begin with app.kubernetes.io/ or ${group}/, which the operator sets`]: `!self.exists(k, k.startsWith('app.kubernetes.io/') || k.startsWith('${group}/'))`,
    },
  }).optional(),
  annotations: annotationMap(
    'Additional annotations of the pods, except those that change the confinement, network, mesh or cloud role of a pod.',
    {
      example: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' },
      max: 32,
      rules: {
        [`annotations must not begin with ${group}/, which the operator sets`]: `!self.exists(k, k.startsWith('${group}/'))`,
      },
      faultOf: faultOfAnnotation,
    },
  ).optional(),
  ...additionFields,
  shutdown: shutdown.prefault({}),
  rollout: rollout.prefault({}),
  maxUnavailable: countOrPercent(
    'Number or percentage of pods that may be unavailable while nodes are drained (PodDisruptionBudget), rounded up. A single replica has no budget.',
  ).default(1),
})

export type Pod = z.output<typeof pod>

const percent = (description: string, example: number) => integer(description, [1, 1000], example)

export const autoscaling = object(
  'Creates a HorizontalPodAutoscaler, which then owns the replica count. Excludes replicas.',
  {
    minReplicas: integer('Minimum number of replicas.', [1, 1000]).default(2),
    maxReplicas: integer('Maximum number of replicas.', [1, 1000], 10),
    targetCpuUtilizationPercent: percent(
      'Target of the mean CPU usage, in percent of the request. Unset: 70 without a memory target.',
      70,
    ).optional(),
    targetMemoryUtilizationPercent: percent(
      'Target of the mean memory usage, in percent of the request. Unset: memory does not count.',
      80,
    ).optional(),
    scaleDownStabilizationSeconds: integer(
      'Time of low load before a replica is removed, since each has connections and sessions.',
      [0, 3600],
    ).default(300),
  },
  {
    'minReplicas must be at most maxReplicas': at(
      '.minReplicas',
      'self.minReplicas <= self.maxReplicas',
    ),
  },
)

export type Autoscaling = z.output<typeof autoscaling>
