// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { list, type Rules, text, withRules } from './field.ts'
import { objectName } from './names.ts'

/** A part of the spec of a Pod: what else Kubernetes takes in it is too much to say again. */
export function partOfPod<T extends z.ZodRawShape>(
  description: string,
  shape: T,
  example: unknown,
  rules?: Rules,
) {
  return z.looseObject(shape).meta({
    description: `${description}, as in the spec of a Pod. It is checked when the Deployment is applied.`,
    example,
    'x-kubernetes-preserve-unknown-fields': true,
    ...withRules(rules),
  })
}

const variable = partOfPod(
  'A variable, with value or valueFrom',
  {
    name: text('Name of the variable.', {
      example: 'NODE_OPTIONS',
      max: 253,
      pattern: /^[-._a-zA-Z][-._a-zA-Z0-9]*$/,
      must: 'name must be letters, digits, dashes, dots and underscores, and must not begin with a digit',
      rules: {
        'name must not begin with KEY_ or SR_: keys of providers and settings of the router do':
          "!self.matches('^(KEY|SR)_')",
      },
    }),
    value: text('The value.', {
      example: '--max-old-space-size=400',
      min: 0,
      max: 32_768,
    }).optional(),
  },
  { name: 'NODE_OPTIONS', value: '--max-old-space-size=400' },
)

const volume = partOfPod(
  'A volume',
  {
    name: text('Name of the volume.', {
      example: 'authorities',
      max: 63,
      pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      must: 'name must be lower-case letters, digits and dashes',
      rules: {
        'name must not be config, secrets or tmp, which the operator sets':
          "!(self in ['config', 'secrets', 'tmp'])",
      },
    }),
  },
  { name: 'authorities', configMap: { name: 'authorities' } },
)

const volumeMount = partOfPod(
  'Where the router finds a volume',
  {
    name: text('Name of the volume.', { example: 'authorities', max: 63 }),
    mountPath: text('The path in the container.', {
      example: '/etc/authorities',
      max: 1024,
      pattern: /^\/[^:]*$/,
      must: 'mountPath must begin with / and have no colon',
      rules: {
        'mountPath must not be /tmp, nor in /etc/rpc-router, where the operator mounts volumes':
          "!self.matches('^/+(tmp|etc/+rpc-router)(/|$)')",
      },
    }),
  },
  { name: 'authorities', mountPath: '/etc/authorities', readOnly: true },
)

/** What the pods of a router have beside that which the operator gives them: the way out where no field leads further. */
export const additionFields = {
  env: list('Further variables of the router. One whose Secret changes rolls no pods.', variable, {
    max: 64,
    kind: ['name'],
  }).optional(),
  volumes: list('Further volumes of the pods.', volume, { max: 32, kind: ['name'] }).optional(),
  volumeMounts: list('Where the router finds them.', volumeMount, {
    max: 32,
    kind: ['mountPath'],
  }).optional(),
  dnsConfig: partOfPod(
    'How the pods resolve names',
    {},
    {
      options: [{ name: 'ndots', value: '1' }],
    },
  ).optional(),
  serviceAccountName: objectName(
    'Service account of the pods, such as one with a role in the cloud. It must exist. They get no token of it from Kubernetes. Unset: one of their own, without rights.',
    'rpc-router-cloud',
  ).optional(),
  patch: partOfPod(
    'The last resort: laid over the spec of the pods when all else is done. Fields are merged, null takes one away; kubectl apply drops nulls before it sends them, but with --server-side. Items of a list are merged by mountPath or else by name, and `$patch: delete` takes one away; a list of items without names is replaced',
    {},
    { containers: [{ name: 'router', livenessProbe: { failureThreshold: 12 } }] },
  ).optional(),
}
