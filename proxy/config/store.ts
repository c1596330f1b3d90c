// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { formatAddress } from './fields/address.ts'
import { type Field, field, list, optional } from './fields/field.ts'
import { filePath, integer, oneOf, remoteAddress, text } from './fields/fields.ts'
import type { Report } from './problem.ts'
import { Secret } from './secret.ts'
import { checkTlsPair, tlsSchema } from './tls-section.ts'
import type { Partly } from './partly.ts'

/* The store shared by replicas: its schema, checks and built form. */

const topologies = ['standalone', 'sentinel', 'cluster'] as const
const defaultPort = 6379
const defaultMaster = 'mymaster'
const defaultPrefix = 'rpc-router:'

const password: Field<Secret> = field(
  { kind: 'text', type: ['string', 'number'], privacy: 'hidden' },
  (value, scalar) => ({ value: new Secret(value, undefined, [value, ...scalar.keys()]) }),
)

const username: Field<Secret> = field(
  { kind: 'text', type: ['string', 'number'], privacy: 'hidden' },
  (value, scalar) => {
    if (/[\s\0]/.test(value)) return { fault: 'has white space in it', hint: null }
    const printable = scalar.hasPlaceholder ? undefined : value
    return { value: new Secret(value, printable, scalar.keys()) }
  },
)

export const storeSchema = z.strictObject({
  topology: optional(oneOf(topologies), 'standalone').describe('Deployment type of the store.'),
  addresses: list(remoteAddress(defaultPort), 1).describe(
    `Addresses of its nodes; of the sentinels with topology sentinel. Without a port: ${defaultPort}.`,
  ),
  'master-name': text({
    kind: 'name',
    pattern: /^[\w.-]{1,128}$/,
    fault: 'cannot be the name of a master',
    hint: 'Letters, digits, dot, dash and underscore.',
  })
    .optional()
    .meta({ 'x-default': defaultMaster })
    .describe('With topology sentinel: the name of the master.'),
  username: optional(username).describe(
    'User to authenticate as. Needs a password. Sentinels get the password alone.',
  ),
  password: optional(password).describe('Password. Best as a placeholder.'),
  'password-file': optional(filePath).describe(
    'A file with the password; a final line break is ignored. The router rereads it when it changes, and when the store refuses the password.',
  ),
  db: optional(integer(0, 65_535), '0').describe(
    'Number of the database. If it cannot be selected, the store counts as down. A cluster only has 0.',
  ),
  'key-prefix': text({
    kind: 'text',
    pattern: /^[!-~]{1,128}$/,
    fault: 'cannot be a prefix',
    hint: 'Printable ASCII without spaces, 128 characters at most.',
  })
    .optional()
    .meta({ 'x-default': defaultPrefix })
    .describe(
      'Prefix of every key. Routers that use one store without sharing state need different prefixes.',
    ),
  tls: optional(tlsSchema).describe(
    'TLS settings. Present, even empty as `{}`: the connection is encrypted.',
  ),
})

type StoreSection = z.output<typeof storeSchema>
export type StoreConfig = ReturnType<typeof buildStore>

/** Checks that span several keys of the section. */
export function checkStore(
  store: Partly<StoreSection> | undefined,
  path: string,
  report: Report,
): void {
  if (store === undefined) return
  const at = (key: string) => `${path}.${key}`
  const { topology = 'standalone', addresses = [], username, db = 0 } = store
  const hasPassword = 'password' in store || 'password-file' in store
  if ('password' in store && 'password-file' in store)
    report(at('password-file'), 'password and password-file exclude each other', 'Keep one.')
  if (username !== undefined && !hasPassword)
    report(at('username'), 'username needs password or password-file beside it')
  if (topology === 'standalone' && addresses.length > 1)
    report(at('addresses'), 'topology standalone has one address', 'Is it a sentinel or a cluster?')
  if (topology === 'cluster' && db !== 0) report(at('db'), 'a cluster has no database but 0')
  if (topology !== 'sentinel' && 'master-name' in store)
    report(at('master-name'), 'master-name is for topology sentinel alone', 'Remove it.')
  if (store.tls) checkTlsPair(store.tls, at('tls'), report)
  const seen = new Set<string>()
  for (const [index, address] of addresses.entries()) {
    if (address === undefined) continue
    const name = formatAddress(address)
    if (seen.has(name)) report(at(`addresses[${index}]`), 'the address is listed twice')
    seen.add(name)
  }
}

export function buildStore(store: StoreSection) {
  return {
    topology: store.topology ?? 'standalone',
    addresses: store.addresses,
    masterName: store['master-name'] ?? defaultMaster,
    username: store.username ?? null,
    password: store.password ?? null,
    passwordFile: store['password-file'] ?? null,
    db: store.db ?? 0,
    keyPrefix: store['key-prefix'] ?? defaultPrefix,
    /** Paths of PEM files, as written in the file. Null: no TLS. */
    tls: store.tls ?? null,
  }
}
