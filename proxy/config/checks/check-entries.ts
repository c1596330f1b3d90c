// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Entries, Placed, PlacedUpstream } from '../entries.ts'
import { formatAddress } from '../fields/address.ts'
import type { UpstreamUrl } from '../fields/upstream-url.ts'
import type { Partly } from '../partial.ts'
import type { Report } from '../problem.ts'
import type { NodeUrlEntry } from '../schema.ts'
import type { ApiInterface } from '../types.ts'

/** What is wrong inside single entries though each of their keys is right by itself. */
export function checkEntries({ endpoints, upstreams }: Entries, report: Report): void {
  for (const { entry, path } of endpoints) {
    const { 'network-address': address, 'listen-address': other } = entry
    // Many files have both, with the same address.
    if (!address || !other || formatAddress(address) === formatAddress(other)) continue
    const message = 'network-address and listen-address are two names of one key'
    report(`${path}.listen-address`, message, 'Keep one of them.')
  }
  for (const upstream of upstreams) for (const url of upstream.urls) checkUrl(url, upstream, report)
  const labelled = upstreams.find(({ entry }) => entry['group-label'] !== undefined)
  if (labelled === undefined) return
  const message = 'group-label has an effect with cross-validation only, which is not built yet'
  report(`${labelled.path}.group-label`, message, null, 'warning')
}

/** By which wires a node can be asked through an interface. */
const schemesOf: Readonly<Record<ApiInterface, readonly UpstreamUrl['scheme'][]>> = {
  jsonrpc: ['http', 'https', 'ws', 'wss'],
  tendermintrpc: ['http', 'https', 'ws', 'wss'],
  rest: ['http', 'https'],
  grpc: ['grpc', 'grpcs', 'http', 'https'],
}

function checkUrl(
  { entry, path }: Placed<NodeUrlEntry>,
  { entry: upstream }: PlacedUpstream,
  report: Report,
): void {
  if (entry['grpc-config'] !== undefined) {
    const why =
      'Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.'
    report(`${path}.grpc-config`, 'grpc-config has no effect', why, 'warning')
  }
  const { url, 'auth-config': auth = {} } = entry
  if (url === undefined) return
  const apiInterface = upstream['api-interface']
  const allowed = apiInterface && schemesOf[apiInterface]
  if (allowed && !allowed.includes(url.scheme)) {
    const message = `a ${url.scheme} URL cannot serve ${apiInterface}`
    report(`${path}.url`, message, `Write one of: ${allowed.join(', ')}.`)
  }
  if (apiInterface === 'grpc' || url.scheme.startsWith('grpc')) {
    // The path is the method and nothing else: with a query behind it no node would know it.
    const message = 'gRPC has no query parameters'
    const hint = 'Write the key under auth-config, auth-headers: it is sent as metadata.'
    if (new URL(url.url.reveal()).search !== '') report(`${path}.url`, message, hint)
    if (auth['auth-query']) report(`${path}.auth-config.auth-query`, message, hint)
  }
  checkAuth(auth, `${path}.auth-config`, url, report)
}

function checkAuth(
  auth: Partly<NonNullable<NodeUrlEntry['auth-config']>>,
  path: string,
  url: UpstreamUrl,
  report: Report,
): void {
  const names = [...(auth['auth-headers']?.keys() ?? [])]
  const own = names.find((name) => name.toLowerCase() === 'authorization')
  if (own !== undefined && url.basicAuth !== null) {
    const message = 'the URL has a user and a password, which are an authorization header too'
    report(`${path}.auth-headers.${own}`, message, 'Keep one of them.')
  }
  const { tls } = auth
  if (tls === undefined) return
  if (!['https', 'wss', 'grpcs'].includes(url.scheme)) {
    const message = `TLS is configured for a URL whose scheme, ${url.scheme}, has none`
    report(`${path}.tls`, message, `Write ${url.scheme}s or remove tls.`)
  }
  for (const [key, other] of [
    ['cert-file', 'key-file'],
    ['key-file', 'cert-file'],
  ] as const)
    if (key in tls && !(other in tls))
      report(`${path}.tls.${key}`, `${key} needs ${other} beside it`)
}
