// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { optional } from './fields/field.ts'
import { boolean, filePath, word } from './fields/fields.ts'
import type { Report } from './problem.ts'
import type { Partly } from './partly.ts'

/** TLS settings of a connection to an upstream or a store. */
export const tlsSchema = z.strictObject({
  'ca-file': optional(filePath).describe(
    'PEM file of the authorities to trust instead of those of the system.',
  ),
  'cert-file': optional(filePath).describe('PEM file of the client certificate. Needs `key-file`.'),
  'key-file': optional(filePath).describe('PEM file of the client key. Needs `cert-file`.'),
  'server-name': optional(word('server')).describe(
    'The name to expect in the certificate, and to send as SNI.',
  ),
  'insecure-skip-verify': optional(boolean, 'false').describe('Accept any certificate. For tests.'),
})

/** Reports a certificate without a key, or a key without a certificate. */
export function checkTlsPair(
  tls: Partly<z.output<typeof tlsSchema>>,
  path: string,
  report: Report,
): void {
  for (const [key, other] of [
    ['cert-file', 'key-file'],
    ['key-file', 'cert-file'],
  ] as const)
    if (key in tls && !(other in tls)) report(`${path}.${key}`, `${key} needs ${other} beside it`)
}
