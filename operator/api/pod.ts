// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { at, integer, list, object, oneOf } from './field.ts'
import { group } from './group.ts'
import { annotationMap, labelKey, labelMap, subdomainName } from './labels.ts'
import { image, objectName } from './names.ts'
import { additionFields, partOfPod } from './pod-additions.ts'
import { countOrPercent, resources } from './quantity.ts'
import type { z } from 'zod'

const toleration = partOfPod('A taint that the pods bear', {}, { key: 'dedicated', value: 'rpc' })

const topologySpreadConstraint = partOfPod(
  'How pods are spread; unset, maxSkew is 1, whenUnsatisfiable ScheduleAnyway, and the pods of this router count',
  {
    topologyKey: labelKey(
      'Label of nodes whose value names the domain.',
      'topology.kubernetes.io/zone',
    ),
    maxSkew: integer('How far the counts of two domains may differ.', [1, 1000]).default(1),
    whenUnsatisfiable: oneOf('Whether a pod that would break the rule is started all the same.', [
      'ScheduleAnyway',
      'DoNotSchedule',
    ]).default('ScheduleAnyway'),
  },
  { topologyKey: 'topology.kubernetes.io/zone' },
)

/** One of the three. */
function affinityOf(what: string) {
  return partOfPod(what, {}, { preferredDuringSchedulingIgnoredDuringExecution: [] }).optional()
}

/** Where pods may run. */
const schedulingFields = {
  nodeSelector: labelMap('Labels that a node must have.', {
    example: { 'kubernetes.io/arch': 'amd64' },
    max: 32,
  }).optional(),
  tolerations: list('Taints that the pods bear.', toleration, {
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
    'How pods are spread. Unset: over nodes and zones, as far as possible.',
    topologySpreadConstraint,
    { max: 8, kind: ['topologyKey', 'whenUnsatisfiable'] },
  ).optional(),
  priorityClassName: subdomainName('Priority class of the pods.', 'production').optional(),
}

/**
 * Obeyed by kubelets, networks, meshes and clouds beyond what the rules for pods of a namespace
 * look at.
 */
const ofOthers =
  /^(?:(?:container\.)?(?:apparmor|seccomp)\.security\.(?:alpha|beta)\.kubernetes\.io|iam\.amazonaws\.com|(?:[^/]*\.)?(?:cni\.cncf\.io|multus-cni\.io|projectcalico\.org|cilium\.io|ovn\.org|ovn\.kubernetes\.io)|(?:traffic\.sidecar|inject)\.istio\.io)\/|^sidecar\.istio\.io\/(?:uservolume|bootstrapoverride|proxyimage)|^config\.linkerd\.io\/(?:skip-|.*image)/

function faultOfAnnotation(key: string): string | null {
  if (!ofOthers.test(key)) return null
  return `the annotation ${key} is reserved for cluster administrators: it changes the confinement, the network, the mesh or the cloud role of a pod`
}

const shutdown = object(
  'How a pod ends.',
  {
    preStopSeconds: integer(
      'How long a pod that ends goes on as before, so that all clients and proxies learn of it.',
      [0, 300],
    ).default(10),
    drainSeconds: integer('How long it then waits for calls in flight.', [0, 3600]).default(25),
    terminationGracePeriodSeconds: integer(
      'When it is killed. Unset: preStopSeconds + drainSeconds + 10.',
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
  'How a change reaches the pods.',
  {
    maxSurge: countOrPercent(
      'Pods beyond the wanted count while a rollout runs. None is ever taken away before its successor is ready.',
    ).default('25%'),
    minReadySeconds: integer(
      'How long a new pod must have been ready before the next one is replaced.',
      [0, 3600],
    ).default(5),
    progressDeadlineSeconds: integer(
      'After how long without progress a rollout counts as stalled.',
      [1, 86_400],
    ).default(600),
    revisionHistoryLimit: integer(
      'How many old ReplicaSets, and their configs, are kept for kubectl rollout undo.',
      [0, 20],
    ).default(3),
  },
  {
    'progressDeadlineSeconds must be more than minReadySeconds': at(
      '.progressDeadlineSeconds',
      'self.progressDeadlineSeconds > self.minReadySeconds',
    ),
    'maxSurge must be more than 0, since no pod stops before its successor is ready': at(
      '.maxSurge',
      "!(string(self.maxSurge) in ['0', '0%'])",
    ),
  },
)

export const pod = object('The pods of the router.', {
  image: image(
    "Image of the router. Unset: the operator's own version of it.",
    'registry.example.com/rpc-router:1.2.0',
  ).optional(),
  imagePullPolicy: oneOf('When the image is pulled.', ['Always', 'IfNotPresent', 'Never']).default(
    'IfNotPresent',
  ),
  imagePullSecrets: list(
    'Secrets to pull images with. Unset: those that --image-pull-secrets of the operator names.',
    object('A Secret of the same namespace.', { name: objectName('Name of the Secret.', 'pull') }),
    { max: 16, kind: ['name'] },
  ).optional(),
  resources: resources(
    'What the container asks for. What is neither requested nor limited has its default: 250m of CPU, and 512Mi of memory, which is the limit too.',
  ).optional(),
  ...schedulingFields,
  labels: labelMap('Further labels of the pods.', {
    example: { team: 'payments' },
    max: 32,
    rules: {
      [`labels must not begin with app.kubernetes.io/ or ${group}/, which the operator sets`]: `!self.exists(k, k.startsWith('app.kubernetes.io/') || k.startsWith('${group}/'))`,
    },
  }).optional(),
  annotations: annotationMap(
    'Further annotations of the pods. Not those by which a pod leaves its confinement, its network or its mesh, or takes a role in the cloud.',
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
    'How many pods may be away while nodes are drained (PodDisruptionBudget), a share rounded up. With one replica there is no budget.',
  ).default(1),
})

export type Pod = z.output<typeof pod>

const percent = (description: string, example: number) => integer(description, [1, 1000], example)

export const autoscaling = object(
  'Makes a HorizontalPodAutoscaler, which then owns the count. Excludes replicas.',
  {
    minReplicas: integer('The least replicas.', [1, 1000]).default(2),
    maxReplicas: integer('The most replicas.', [1, 1000], 10),
    targetCpuUtilizationPercent: percent(
      'Mean use of CPU to aim at, in percent of what the pods request. Unset, and no memory target either: 70.',
      70,
    ).optional(),
    targetMemoryUtilizationPercent: percent(
      'Mean use of memory to aim at, in percent of what the pods request. Unset: memory is not looked at.',
      80,
    ).optional(),
    scaleDownStabilizationSeconds: integer(
      'How long the load must have been low before a replica goes: each holds connections and sessions.',
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
