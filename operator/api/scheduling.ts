// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { at, integer, list, object, oneOf, text } from './field.ts'
import {
  labelKey,
  labelMap,
  labelSelector,
  labelValue,
  subdomainName,
  valueForm,
} from './labels.ts'

const toleration = object(
  'A taint that the pods bear.',
  {
    key: labelKey('Key of the taint. Unset: all.', 'dedicated').optional(),
    operator: oneOf(
      'How the key relates to the value. Unset: Equal.',
      ['Exists', 'Equal'],
      'Equal',
    ).optional(),
    value: text('Value of the taint.', {
      example: 'rpc',
      min: 0,
      max: 63,
      pattern: labelValue,
      must: `value must have ${valueForm}`,
    }).optional(),
    effect: oneOf(
      'Effect of the taint. Unset: all.',
      ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
      'NoSchedule',
    ).optional(),
    tolerationSeconds: integer(
      'How long a NoExecute taint is tolerated. Unset: for ever.',
      [0, 2_147_483_647],
      60,
    ).optional(),
  },
  { key: 'dedicated', value: 'rpc' },
  {
    'value must not be set with operator Exists': at(
      '.value',
      "self.?operator.orValue('Equal') == 'Equal' || self.?value.orValue('') == ''",
    ),
    'operator must be Exists when key is not set': at(
      '.operator',
      "has(self.key) || self.?operator.orValue('Equal') == 'Exists'",
    ),
    'effect must be NoExecute when tolerationSeconds is set': at(
      '.effect',
      "!has(self.tolerationSeconds) || self.?effect.orValue('') == 'NoExecute'",
    ),
  },
)

const topologySpreadConstraint = object(
  'How pods are spread.',
  {
    topologyKey: labelKey(
      'Label of nodes that tells the domains apart.',
      'topology.kubernetes.io/zone',
    ),
    maxSkew: integer('How far the counts of two domains may differ.', [1, 1000]).default(1),
    whenUnsatisfiable: oneOf('Whether a pod that would break the rule is started all the same.', [
      'ScheduleAnyway',
      'DoNotSchedule',
    ]).default('ScheduleAnyway'),
    labelSelector: labelSelector('Pods that count. Unset: those of this router.', {
      matchLabels: { app: 'rpc' },
    }).optional(),
  },
  { topologyKey: 'topology.kubernetes.io/zone' },
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
  nodeSelector: labelMap('Labels that a node must have.', {
    example: { 'kubernetes.io/arch': 'amd64' },
    max: 32,
  }).optional(),
  tolerations: list('Taints that the pods bear.', toleration, {
    example: [{ key: 'dedicated', operator: 'Equal', value: 'rpc', effect: 'NoSchedule' }],
    max: 32,
    kind: 'atomic',
  }).optional(),
  affinity: object(
    'Affinity of the pods, as in the spec of a Pod.',
    {
      nodeAffinity: affinityOf('To nodes'),
      podAffinity: affinityOf('To other pods'),
      podAntiAffinity: affinityOf('Away from other pods'),
    },
    { podAntiAffinity: {} },
  ).optional(),
  topologySpreadConstraints: list(
    'How pods are spread. Unset: over nodes and zones, as far as possible.',
    topologySpreadConstraint,
    { max: 8, kind: ['topologyKey', 'whenUnsatisfiable'] },
  ).optional(),
  priorityClassName: subdomainName('Priority class of the pods.', 'production').optional(),
}
