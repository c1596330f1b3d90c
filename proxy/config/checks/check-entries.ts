// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { UpstreamUrl } from '../fields/upstream-url.ts'
import { formatPath, type Report } from '../problem.ts'
import type { ApiInterface } from '../types.ts'
import { child, isMap, Scalar, type Tree } from '../yaml/scalar.ts'
import type { Entries, UpstreamEntry, UrlEntry } from './entries.ts'

/** What is wrong inside single entries though each of their keys is right by itself. */
export function checkEntries({ endpoints, upstreams }: Entries, report: Report): void {
  for (const { tree, path } of endpoints) checkEndpoint(tree, path, report)
  for (const upstream of upstreams)
    for (const entry of upstream.urls) checkUrl(entry, upstream, report)
  const labelled = upstreams.find(({ tree }) => child(tree, 'group-label') !== undefined)
  if (labelled === undefined) return
  const message = 'group-label has an effect with cross-validation only, which is not built yet'
  report(`${labelled.path}.group-label`, message, null, 'warning')
}

function checkEndpoint(endpoint: Tree, path: string, report: Report): void {
  const [one, other] = ['network-address', 'listen-address'].map((name) => child(endpoint, name))
  if (one === undefined || other === undefined) return
  // Many files have both, with the same address.
  if (one instanceof Scalar && other instanceof Scalar && one.reveal() === other.reveal()) return
  const message = 'network-address and listen-address are two names of one key'
  report(`${path}.listen-address`, message, 'Keep one of them.')
}

/** By which wires a node can be asked through an interface. */
const schemesOf: Readonly<Record<ApiInterface, readonly UpstreamUrl['scheme'][]>> = {
  jsonrpc: ['http', 'https', 'ws', 'wss'],
  tendermintrpc: ['http', 'https', 'ws', 'wss'],
  rest: ['http', 'https'],
  grpc: ['grpc', 'grpcs', 'http', 'https'],
}

function checkUrl(
  { tree, path, url }: UrlEntry,
  { apiInterface }: UpstreamEntry,
  report: Report,
): void {
  if (child(tree, 'grpc-config') !== undefined) {
    const why =
      'Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.'
    report(`${path}.grpc-config`, 'grpc-config has no effect', why, 'warning')
  }
  if (url === null) return
  const auth = child(tree, 'auth-config')
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
    const place = `${path}.auth-config.auth-query`
    if (child(auth, 'auth-query') !== undefined) report(place, message, hint)
  }
  checkAuth(auth, `${path}.auth-config`, url, report)
}

function checkAuth(auth: Tree | undefined, path: string, url: UpstreamUrl, report: Report): void {
  const headers = child(auth, 'auth-headers')
  const names = isMap(headers) ? Object.keys(headers) : []
  const own = names.find((name) => name.toLowerCase() === 'authorization')
  if (own !== undefined && url.basicAuth !== null) {
    const message = 'the URL has a user and a password, which are an authorization header too'
    report(`${path}.${formatPath(['auth-headers', own])}`, message, 'Keep one of them.')
  }
  const tls = child(auth, 'tls')
  if (!isMap(tls)) return
  if (!['https', 'wss', 'grpcs'].includes(url.scheme)) {
    const message = `TLS is configured for a URL whose scheme, ${url.scheme}, has none`
    report(`${path}.tls`, message, `Write ${url.scheme}s or remove tls.`)
  }
  for (const [key, other] of [
    ['cert-file', 'key-file'],
    ['key-file', 'cert-file'],
  ] as const)
    if (child(tls, key) !== undefined && child(tls, other) === undefined)
      report(`${path}.tls.${key}`, `${key} needs ${other} beside it`)
}
