// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { kindKeyword, list } from '../fields/field.ts'
import { boolean, duration, integer } from '../fields/fields.ts'
import { apiInterface, chainId, filePath, label, word } from '../fields/names.ts'
import { Scalar } from '../yaml/scalar.ts'
import { authHeaders, authQuery } from '../fields/upstream-auth.ts'
import { upstreamUrl } from '../fields/upstream-url.ts'

/** What a TLS connection needs, to an upstream or to a store. */
export const tlsSchema = z.strictObject({
  'ca-file': filePath()
    .optional()
    .describe('PEM file of the authorities to trust instead of those of the system.'),
  'cert-file': filePath()
    .optional()
    .describe('PEM file of the client certificate. Needs `key-file`.'),
  'key-file': filePath().optional().describe('PEM file of the client key. Needs `cert-file`.'),
  'server-name': word('server')
    .optional()
    .describe('The name to expect in the certificate, and to send as SNI.'),
  'insecure-skip-verify': boolean()
    .optional()
    .meta({ 'x-default': 'false' })
    .describe('Accept any certificate. For tests.'),
})

const authSchema = z.strictObject({
  'auth-headers': authHeaders()
    .optional()
    .describe(
      "Headers that are sent with every request to this URL, for gRPC as metadata. They stand in place of a client's own of the same names.",
    ),
  'auth-query': authQuery()
    .optional()
    .describe(
      "Parameters that are put at the head of the query string of every request. A client's own of the same names are left out. Not for gRPC.",
    ),
  tls: tlsSchema.optional().describe('TLS settings, for https, wss and grpcs.'),
})

const nodeUrlSchema = z.strictObject({
  url: upstreamUrl().describe(
    'http, https, ws or wss URL. A user and a password in it are sent as Basic authentication.',
  ),
  timeout: duration({ min: 1, max: 86_400_000 })
    .optional()
    .describe(
      'Time for one attempt at this URL, after which it is taken back. Unset: the router works out from the method when it is late.',
    ),
  'max-batch': integer({ min: 1, max: 1_000 })
    .optional()
    .meta({ 'x-default': '100' })
    .describe(
      "JSON-RPC over HTTP: items of a client's batch that go to this URL in one request; 1 sends them singly. The router lowers it by itself when the node refuses a batch.",
    ),
  compression: boolean()
    .optional()
    .meta({ 'x-default': 'true for https' })
    .describe('Ask this URL for answers in gzip.'),
  addons: list(word('add-on'))
    .optional()
    .describe(
      'Add-ons and extensions that this URL serves, such as `debug`, `trace`, `archive`, `bundler`.',
    ),
  'skip-verifications': list(word('verification'))
    .optional()
    .describe('Names of start-up verifications to leave out, or `"*"` for all.'),
  'auth-config': authSchema.optional().describe('How the router authenticates itself to this URL.'),
  'grpc-config': z
    .record(z.string(), z.custom<Scalar>((value) => value instanceof Scalar).meta({}))
    .optional()
    .meta({ [kindKeyword]: 'map' })
    .describe(
      'Settings of a gRPC upstream. Taken, with a warning in the log, and without effect: calls are relayed as bytes, without descriptors and reflection, and TLS follows from the scheme of the URL.',
    ),
})

/** An upstream, of either tier. */
export const upstreamSchema = z.strictObject({
  name: label('name').describe(
    'Name of the upstream, the value of `rpc-select-provider`. Unique per chain and interface over both tiers.',
  ),
  'chain-id': chainId().describe('Chain that it serves, by the id or an alias of its spec.'),
  'api-interface': apiInterface().describe('Interface that it serves.'),
  'group-label': label('group label')
    .optional()
    .describe(
      'Free label for a group of upstreams, such as `external` and `internal`. It has an effect with cross-validation only, which this version does not have yet.',
    ),
  'node-urls': list(nodeUrlSchema, 1).describe(
    'One or more URLs that stand for this upstream and fail over among themselves.',
  ),
})
