// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { list, type Rules, text, withRules } from './field.ts'
import { objectName } from './names.ts'

/** A part of a Pod spec. It accepts fields that this schema does not list. */
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
        'name must not begin with KEY_ or SR_, which keys of providers and settings of the router use':
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
  'A volume mount of the router',
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

/** Additions to the pods, for everything that no other field covers. */
export const additionFields = {
  env: list(
    'Additional variables of the router. A change of a Secret that one refers to replaces no pods.',
    variable,
    {
      max: 64,
      kind: ['name'],
    },
  ).optional(),
  volumes: list('Additional volumes of the pods.', volume, { max: 32, kind: ['name'] }).optional(),
  volumeMounts: list('Volume mounts of the router.', volumeMount, {
    max: 32,
    kind: ['mountPath'],
  }).optional(),
  dnsConfig: partOfPod(
    'DNS settings of the pods',
    {},
    {
      options: [{ name: 'ndots', value: '1' }],
    },
  ).optional(),
  serviceAccountName: objectName(
    'Service account of the pods, such as one with a cloud role. It must exist. Its Kubernetes token is not mounted. Unset: a new account without rights.',
    'rpc-router-cloud',
  ).optional(),
  patch: partOfPod(
    'Last resort: a patch of the final pod spec. Fields are merged, and null removes one; kubectl apply sends nulls only with --server-side. List items are merged by mountPath or else by name, and `$patch: delete` removes one. A list without names is replaced',
    {},
    { containers: [{ name: 'router', livenessProbe: { failureThreshold: 12 } }] },
  ).optional(),
}
