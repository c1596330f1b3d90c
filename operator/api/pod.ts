// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { integer, list, object, oneOf, text, textMap } from './field.ts'
import { group } from './group.ts'
import { labelMap } from './labels.ts'
import { objectName } from './names.ts'
import { countOrPercent, resources } from './quantity.ts'
import { schedulingFields } from './scheduling.ts'
import type { z } from 'zod'

const shutdown = object(
  {
    preStopSeconds: integer({
      description:
        'How long a pod goes on as before once it is told to stop, so that everyone learns of it.',
      example: 10,
      min: 0,
      max: 300,
    }).default(10),
    drainSeconds: integer({
      description: 'How long it then waits for calls in flight.',
      example: 25,
      min: 0,
      max: 3600,
    }).default(25),
    terminationGracePeriodSeconds: integer({
      description: 'When it is killed. Unset: preStopSeconds + drainSeconds + 10.',
      example: 45,
      min: 1,
      max: 7200,
    }).optional(),
  },
  {
    description: 'How a pod ends.',
    example: { drainSeconds: 60 },
    rules: [
      {
        rule: '!has(self.terminationGracePeriodSeconds) || self.terminationGracePeriodSeconds >= self.preStopSeconds + self.drainSeconds + 10',
        message:
          'terminationGracePeriodSeconds must be at least preStopSeconds + drainSeconds + 10',
        fieldPath: '.terminationGracePeriodSeconds',
      },
    ],
  },
)

const rollout = object(
  {
    maxSurge: countOrPercent('maxSurge', {
      description:
        'Pods beyond the wanted count while a rollout runs. None is ever taken away before its successor is ready.',
      example: '25%',
    }).default('25%'),
    minReadySeconds: integer({
      description: 'How long a new pod must have been ready before the next one is replaced.',
      example: 5,
      min: 0,
      max: 3600,
    }).default(5),
    progressDeadlineSeconds: integer({
      description: 'After how long without progress a rollout counts as stalled.',
      example: 600,
      min: 1,
      max: 86_400,
    }).default(600),
    revisionHistoryLimit: integer({
      description:
        'How many old ReplicaSets, and their configs, are kept for kubectl rollout undo.',
      example: 3,
      min: 0,
      max: 20,
    }).default(3),
  },
  {
    description: 'How a change reaches the pods.',
    example: { maxSurge: 1, minReadySeconds: 10 },
    rules: [
      {
        rule: 'self.progressDeadlineSeconds > self.minReadySeconds',
        message: 'progressDeadlineSeconds must be more than minReadySeconds',
        fieldPath: '.progressDeadlineSeconds',
      },
      {
        rule: "!(string(self.maxSurge) in ['0', '0%'])",
        message: 'maxSurge must be more than 0, for no pod goes before its successor is ready',
        fieldPath: '.maxSurge',
      },
    ],
  },
)

/** The pods of a router. */
export const pod = object(
  {
    image: text({
      description: "Image of the router. Unset: the operator's own version of it.",
      example: 'registry.example.com/rpc-router:1.2.0',
      max: 512,
      pattern: /^[^\s]+$/,
      must: 'image must be the name of an image, without spaces',
    }).optional(),
    imagePullPolicy: oneOf(['Always', 'IfNotPresent', 'Never'], {
      description: 'When the image is pulled.',
      example: 'IfNotPresent',
    }).default('IfNotPresent'),
    imagePullSecrets: list(
      object(
        { name: objectName('name', { description: 'Name of the Secret.', example: 'pull' }) },
        { description: 'A Secret of the same namespace.', example: { name: 'pull' } },
      ),
      {
        description: 'Secrets to pull images with.',
        example: [{ name: 'pull' }],
        max: 16,
        kind: ['name'],
      },
    ).optional(),
    resources: resources({
      description:
        'What the container asks for. What is neither requested nor limited has its default: 250m of CPU, and 512Mi of memory, which is the limit too.',
      example: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
    }).optional(),
    ...schedulingFields,
    labels: labelMap('labels', {
      description: 'Further labels of the pods.',
      example: { team: 'payments' },
      max: 32,
      rules: [
        {
          rule: `!self.exists(k, k.startsWith('app.kubernetes.io/') || k.startsWith('${group}/'))`,
          message: `labels must not begin with app.kubernetes.io/ or ${group}/, which the operator sets`,
        },
      ],
    }).optional(),
    annotations: textMap({
      description: 'Further annotations of the pods.',
      example: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' },
      max: 32,
      maxValueLength: 4096,
      rules: [
        {
          rule: `!self.exists(k, k.startsWith('${group}/'))`,
          message: `annotations must not begin with ${group}/, which the operator sets`,
        },
      ],
    }).optional(),
    shutdown: shutdown.prefault({}),
    rollout: rollout.prefault({}),
    maxUnavailable: countOrPercent('maxUnavailable', {
      description:
        'How many pods may be away while nodes are drained (PodDisruptionBudget), a share rounded up. With one replica there is no budget.',
      example: 1,
    }).default(1),
  },
  {
    description: 'The pods of the router.',
    example: { resources: { requests: { cpu: '1', memory: '1Gi' } } },
  },
)

export type Pod = z.output<typeof pod>

const percent = (description: string, example: number) =>
  integer({ description, example, min: 1, max: 1000 })

/** How many replicas there are, by load. */
export const autoscaling = object(
  {
    minReplicas: integer({
      description: 'The least replicas.',
      example: 2,
      min: 1,
      max: 1000,
    }).default(2),
    maxReplicas: integer({ description: 'The most replicas.', example: 10, min: 1, max: 1000 }),
    targetCpuUtilizationPercent: percent(
      'Mean use of CPU to aim at, in percent of what the pods request. Unset, and no memory target either: 70.',
      70,
    ).optional(),
    targetMemoryUtilizationPercent: percent(
      'Mean use of memory to aim at, in percent of what the pods request. Unset: memory is not looked at.',
      80,
    ).optional(),
    scaleDownStabilizationSeconds: integer({
      description:
        'How long the load must have been low before a replica goes: each holds connections and sessions.',
      example: 300,
      min: 0,
      max: 3600,
    }).default(300),
  },
  {
    description: 'Makes a HorizontalPodAutoscaler, which then owns the count. Excludes replicas.',
    example: { minReplicas: 2, maxReplicas: 10, targetCpuUtilizationPercent: 70 },
    rules: [
      {
        rule: 'self.minReplicas <= self.maxReplicas',
        message: 'minReplicas must be at most maxReplicas',
        fieldPath: '.minReplicas',
      },
    ],
  },
)

export type Autoscaling = z.output<typeof autoscaling>
