// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type About, boolean, list, object, text } from './field.ts'
import { dataKey, objectName } from './names.ts'
import type { z } from 'zod'

/** One key of a Secret in the namespace of the object. */
export function secretKeyRef(about: About) {
  return object(
    {
      name: objectName('name', { description: 'Name of the Secret.', example: 'alpha-keys' }),
      key: dataKey('key', { description: 'Key of its data.', example: 'apiKey' }),
    },
    about,
  )
}

/** One key of a ConfigMap in the namespace of the object. */
export function configMapKeyRef(about: About) {
  return object(
    {
      name: objectName('name', { description: 'Name of the ConfigMap.', example: 'node-ca' }),
      key: dataKey('key', { description: 'Key of its data.', example: 'ca.crt' }),
    },
    about,
  )
}

/** A value that stands in a Secret or a ConfigMap. */
export function valueFrom(name: string, about: About) {
  return object(
    {
      secretKeyRef: secretKeyRef({
        description: 'A key of a Secret.',
        example: { name: 'alpha-keys', key: 'apiKey' },
      }).optional(),
      configMapKeyRef: configMapKeyRef({
        description: 'A key of a ConfigMap. For values that are no secret.',
        example: { name: 'node-ca', key: 'ca.crt' },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: 'has(self.secretKeyRef) != has(self.configMapKeyRef)',
          message: `${name} must have exactly one of secretKeyRef and configMapKeyRef`,
        },
      ],
    },
  )
}

/** A name with a value that is written out or stands elsewhere. */
export function namedValue(name: z.ZodString, about: About) {
  return object(
    {
      name,
      value: text({
        description:
          'The value. `${NAME}` in it stands for a variable of the provider, `$${NAME}` for that text itself. Anyone who may read the object reads this text: secrets belong into valueFrom or a variable.',
        example: 'Bearer ${API_TOKEN}',
        max: 4096,
        pattern: /^[^\r\n]*$/,
        must: 'value must have no line break',
      }).optional(),
      valueFrom: valueFrom('valueFrom', {
        description: 'Where the value stands.',
        example: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
      }).optional(),
    },
    {
      ...about,
      rules: [
        {
          rule: 'has(self.value) != has(self.valueFrom)',
          message: 'it must have exactly one of value and valueFrom',
        },
      ],
    },
  )
}

export type SecretKeyRef = z.output<ReturnType<typeof secretKeyRef>>
export type ConfigMapKeyRef = z.output<ReturnType<typeof configMapKeyRef>>
export type ValueFrom = z.output<ReturnType<typeof valueFrom>>
export type NamedValue = z.output<ReturnType<typeof namedValue>>

const variable = object(
  {
    name: text({
      description: 'Name by which the URLs and values of this provider call it.',
      example: 'API_KEY',
      max: 64,
      pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
      must: 'name must be letters, digits and underscores, and must not begin with a digit',
    }),
    valueFrom: valueFrom('valueFrom', {
      description: 'Where the value stands.',
      example: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
    }),
  },
  {
    description: 'A variable.',
    example: {
      name: 'API_KEY',
      valueFrom: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } },
    },
  },
)

/** Values from Secrets and ConfigMaps that texts of a provider can name. */
export const variables = list(variable, {
  description:
    'Values from Secrets and ConfigMaps. `${NAME}` in a url, a header value or a query value stands for one. A key that is part of a URL can be said in no other way.',
  example: [
    { name: 'API_KEY', valueFrom: { secretKeyRef: { name: 'alpha-keys', key: 'apiKey' } } },
  ],
  max: 32,
  kind: ['name'],
})

const clientCertificate = object(
  {
    secretName: objectName('secretName', {
      description: 'Name of the Secret; one of the type kubernetes.io/tls fits.',
      example: 'alpha-mtls',
    }),
    certificateKey: dataKey('certificateKey', {
      description: 'Key under which the certificate stands, in PEM.',
      example: 'tls.crt',
    }).default('tls.crt'),
    privateKeyKey: dataKey('privateKeyKey', {
      description: 'Key under which the private key stands, in PEM.',
      example: 'tls.key',
    }).default('tls.key'),
  },
  {
    description: 'The certificate that the router shows (mutual TLS), from a Secret.',
    example: { secretName: 'alpha-mtls' },
  },
)

/** What a TLS connection needs, to an upstream or to a store. */
export function tls(about: About) {
  return object(
    {
      ca: valueFrom('ca', {
        description:
          'The authorities to trust, in PEM, instead of those of the system. A ConfigMap fits: they are no secret.',
        example: { configMapKeyRef: { name: 'node-ca', key: 'ca.crt' } },
      }).optional(),
      clientCertificate: clientCertificate.optional(),
      serverName: text({
        description: 'The name to expect in the certificate, and to send as SNI.',
        example: 'node.internal.example',
        max: 253,
        pattern: /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/,
        must: 'serverName must be a host name without a port',
      }).optional(),
      insecureSkipVerify: boolean({
        description: 'Accept any certificate. For tests: it makes TLS worthless.',
        example: false,
      }).default(false),
    },
    about,
  )
}

export type Tls = z.output<ReturnType<typeof tls>>
