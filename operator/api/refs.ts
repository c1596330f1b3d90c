// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { described } from './described.ts'
import { boolean, list, object, text } from './field.ts'
import { dataKey, objectName } from './names.ts'
import type { z } from 'zod'

/** One key of a Secret in the namespace of the object. */
export function secretKeyRef(description: string, of = { name: 'alpha-keys', key: 'apiKey' }) {
  return object(description, {
    name: objectName('Name of the Secret.', of.name),
    key: dataKey('Key of its data.', of.key),
  })
}

const configMapKeyRef = object('A key of a ConfigMap, for values that are not secret.', {
  name: objectName('Name of the ConfigMap.', 'node-ca'),
  key: dataKey('Key of its data.', 'ca.crt'),
})

/** A value from a Secret or a ConfigMap. */
function valueFrom(description: string, example?: object) {
  return object(
    description,
    {
      secretKeyRef: secretKeyRef('A key of a Secret.').optional(),
      configMapKeyRef: configMapKeyRef.optional(),
    },
    {
      '{field} must have exactly one of secretKeyRef and configMapKeyRef':
        'has(self.secretKeyRef) != has(self.configMapKeyRef)',
    },
    example,
  )
}

const valueElsewhere = valueFrom('Source of the value.')

/** A name with a value, which is literal or comes from another object. */
export function namedValue(name: z.ZodString, description: string, example: object) {
  return object(
    description,
    {
      name,
      value: text(
        'The value. `${NAME}` is replaced by a variable of the provider; `$${NAME}` is a literal `${NAME}`. Anyone who may read the object can read it, so secrets belong in valueFrom or a variable.',
        {
          example: 'Bearer ${API_TOKEN}',
          max: 4096,
          pattern: /^[^\r\n]*$/,
          must: 'value must have no line break',
        },
      ).optional(),
      valueFrom: valueElsewhere.optional(),
    },
    {
      'it must have exactly one of value and valueFrom': 'has(self.value) != has(self.valueFrom)',
    },
    example,
  )
}

export type SecretKeyRef = z.output<ReturnType<typeof secretKeyRef>>
export type ConfigMapKeyRef = z.output<typeof configMapKeyRef>
export type ValueFrom = z.output<ReturnType<typeof valueFrom>>
export type NamedValue = z.output<ReturnType<typeof namedValue>>

const variable = object('A variable.', {
  name: text('Name for use in URLs and values of this provider.', {
    example: 'API_KEY',
    max: 64,
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    must: 'name must be letters, digits and underscores, and must not begin with a digit',
  }),
  valueFrom: valueElsewhere,
})

export const variables = list(
  'Values from Secrets and ConfigMaps, which replace `${NAME}` in a url, a header value or a query value. A key within a URL needs a variable.',
  variable,
  { max: 32, kind: ['name'] },
)

const clientCertificate = object('Client certificate of the router (mutual TLS), from a Secret.', {
  secretName: objectName(
    'Name of the Secret, such as one of the type kubernetes.io/tls.',
    'alpha-mtls',
  ),
  certificateKey: dataKey('Key of the certificate, in PEM.').default('tls.crt'),
  privateKeyKey: dataKey('Key of the private key, in PEM.').default('tls.key'),
})

/** TLS settings for an upstream or a store. */
export function tls(description: string) {
  return object(description, {
    ca: valueFrom(
      'Trusted CA certificates in PEM, instead of those of the system. They are not secret, so a ConfigMap suffices.',
      { configMapKeyRef: { name: 'node-ca', key: 'ca.crt' } },
    ).optional(),
    clientCertificate: clientCertificate.optional(),
    serverName: text(described('resp-cache.tls.server-name'), {
      example: 'node.internal.example',
      max: 253,
      pattern: /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/,
      must: 'serverName must be a host name without a port',
    }).optional(),
    insecureSkipVerify: boolean(
      'Accept any certificate. Only for tests, since it makes TLS worthless.',
    ).default(false),
  })
}

export type Tls = z.output<ReturnType<typeof tls>>
