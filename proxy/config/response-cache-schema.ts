// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { integer, oneOf, text } from './fields.ts'
import { filePath } from './names.ts'
import { hostAndPortPattern } from './port.ts'
import { list } from './section.ts'
import { secretText } from './upstream-auth.ts'
import { tlsSchema } from './upstream-schema.ts'

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
