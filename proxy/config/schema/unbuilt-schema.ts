// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { hostAndPortPattern } from '../fields/address.ts'
import { list } from '../fields/field.ts'
import { boolean, integer, oneOf, text } from '../fields/fields.ts'
import { apiInterface, chainId, filePath, word } from '../fields/names.ts'
import { secretText } from '../fields/upstream-auth.ts'
import { Scalar } from '../yaml/scalar.ts'
import { tlsSchema } from './upstream-schema.ts'

/* Sections that this version refuses, with keys that stay: see capabilities.ts. */

const count = integer({ min: 1, max: 1000 })

const bounds = z
  .preprocess(
    (value) => (value instanceof Scalar ? { floor: value } : value),
    z.strictObject({
      floor: count.optional().describe('The least; what a caller asks for is raised to it.'),
      cap: count.optional().describe('The most; what a caller asks for is cut to it.'),
    }),
  )
  .meta({ type: ['object', 'integer'] })

const policySchema = z.strictObject({
  'chain-id': chainId().describe('Chain.'),
  'api-interface': apiInterface().describe('Interface.'),
  method: word('method').describe('Method that the policy applies to.'),
  enabled: boolean()
    .optional()
    .meta({ 'x-default': 'true' })
    .describe('Whether the policy is active.'),
  'agreement-threshold': bounds
    .optional()
    .describe('How many answers must match. N means `{floor: N}`.'),
  'max-participants': bounds
    .optional()
    .describe('How many upstreams are asked. N means `{floor: N}`.'),
  'min-groups': bounds
    .optional()
    .describe('How many groups the matching answers must come from. N means `{floor: N}`.'),
  'per-group-quorum': count.optional().describe('How many answers must match within each group.'),
  'forbid-caller-cv': boolean()
    .optional()
    .meta({ 'x-default': 'false' })
    .describe('Whether callers may not ask for cross-validation of this method.'),
})

/** Which answers are compared between upstreams before one is given. */
export const crossValidationSchema = z.strictObject({
  policies: list(policySchema).optional().describe('One policy per chain, interface and method.'),
})

const hostAndPort = text({
  kind: 'host:port',
  pattern: hostAndPortPattern,
  fault: 'is not host:port',
  hint: 'Write one such as redis:6379.',
  privacy: 'public',
})

const keyPrefix = text({
  kind: 'text',
  pattern: /^[!-~]{1,128}$/,
  fault: 'cannot be a key prefix',
  hint: 'Printable ASCII without spaces, 128 characters at most.',
  privacy: 'public',
})

/** A key-value store as cache backend. */
export const responseCacheSchema = z.strictObject({
  topology: oneOf(['standalone', 'sentinel', 'cluster'])
    .optional()
    .meta({ 'x-default': 'standalone' })
    .describe('How the store is deployed.'),
  addresses: list(hostAndPort, 1).describe('Addresses of the nodes of the store.'),
  username: secretText().optional().describe('User to authenticate as.'),
  password: secretText().optional().describe('Password of the user.'),
  'password-file': filePath().optional().describe('File that holds the password.'),
  db: integer({ min: 0, max: 65_535 })
    .optional()
    .meta({ 'x-default': '0' })
    .describe('Number of the database.'),
  'key-prefix': keyPrefix.optional().describe('What every key begins with.'),
  tls: tlsSchema.optional().describe('TLS settings of the connection.'),
})
