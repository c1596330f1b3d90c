// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type About, boolean, object, text } from './field.ts'
import { dataKey, objectName } from './names.ts'
import { valueFrom } from './refs.ts'

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
