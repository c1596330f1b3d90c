// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { integer, list, object, oneOf, text } from './field.ts'
import {
  labelKey,
  labelMap,
  labelSelector,
  labelValue,
  subdomainName,
  valueForm,
} from './labels.ts'

const toleration = object(
  {
    key: labelKey('key', {
      description: 'Key of the taint. Unset: all.',
      example: 'dedicated',
    }).optional(),
    operator: oneOf(['Exists', 'Equal'], {
      description: 'How the key relates to the value. Unset: Equal.',
      example: 'Equal',
    }).optional(),
    value: text({
      description: 'Value of the taint.',
      example: 'rpc',
      min: 0,
      max: 63,
      pattern: labelValue,
      must: `value must have ${valueForm}`,
    }).optional(),
    effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
      description: 'Effect of the taint. Unset: all.',
      example: 'NoSchedule',
    }).optional(),
    tolerationSeconds: integer({
      description: 'How long a NoExecute taint is tolerated. Unset: for ever.',
      example: 60,
      min: 0,
      max: 2_147_483_647,
    }).optional(),
  },
  {
    description: 'A taint that the pods bear.',
    example: { key: 'dedicated', value: 'rpc' },
    rules: [
      {
        rule: "self.?operator.orValue('Equal') == 'Equal' || self.?value.orValue('') == ''",
        message: 'value must not be set with operator Exists',
        fieldPath: '.value',
      },
      {
        rule: "has(self.key) || self.?operator.orValue('Equal') == 'Exists'",
        message: 'operator must be Exists when key is not set',
        fieldPath: '.operator',
      },
      {
        rule: "!has(self.tolerationSeconds) || self.?effect.orValue('') == 'NoExecute'",
        message: 'effect must be NoExecute when tolerationSeconds is set',
        fieldPath: '.effect',
      },
    ],
  },
)

const topologySpreadConstraint = object(
  {
    topologyKey: labelKey('topologyKey', {
      description: 'Label of nodes that tells the domains apart.',
      example: 'topology.kubernetes.io/zone',
    }),
    maxSkew: integer({
      description: 'How far the counts of two domains may differ.',
      example: 1,
      min: 1,
      max: 1000,
    }).default(1),
    whenUnsatisfiable: oneOf(['ScheduleAnyway', 'DoNotSchedule'], {
      description: 'Whether a pod that would break the rule is started all the same.',
      example: 'ScheduleAnyway',
    }).default('ScheduleAnyway'),
    labelSelector: labelSelector({
      description: 'Pods that count. Unset: those of this router.',
      example: { matchLabels: { app: 'rpc' } },
    }).optional(),
  },
  {
    description: 'How pods are spread.',
    example: { topologyKey: 'topology.kubernetes.io/zone' },
  },
)

/** One of the three, as Kubernetes has it: it is too much to say again. */
function affinityOf(what: string) {
  return z
    .record(z.string(), z.unknown())
    .meta({
      description: `${what}, as in the spec of a Pod. It is checked when the Deployment is applied.`,
      example: { preferredDuringSchedulingIgnoredDuringExecution: [] },
      'x-kubernetes-preserve-unknown-fields': true,
    })
    .optional()
}

/** Where pods may run. */
export const schedulingFields = {
  nodeSelector: labelMap('nodeSelector', {
    description: 'Labels that a node must have.',
    example: { 'kubernetes.io/arch': 'amd64' },
    max: 32,
  }).optional(),
  tolerations: list(toleration, {
    description: 'Taints that the pods bear.',
    example: [{ key: 'dedicated', operator: 'Equal', value: 'rpc', effect: 'NoSchedule' }],
    max: 32,
    kind: 'atomic',
  }).optional(),
  affinity: object(
    {
      nodeAffinity: affinityOf('To nodes'),
      podAffinity: affinityOf('To other pods'),
      podAntiAffinity: affinityOf('Away from other pods'),
    },
    {
      description: 'Affinity of the pods, as in the spec of a Pod.',
      example: { podAntiAffinity: {} },
    },
  ).optional(),
  topologySpreadConstraints: list(topologySpreadConstraint, {
    description: 'How pods are spread. Unset: over nodes and zones, as far as possible.',
    example: [{ topologyKey: 'topology.kubernetes.io/zone' }],
    max: 8,
    kind: ['topologyKey', 'whenUnsatisfiable'],
  }).optional(),
  priorityClassName: subdomainName('priorityClassName', {
    description: 'Priority class of the pods.',
    example: 'production',
  }).optional(),
}
