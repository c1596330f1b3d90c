// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { formatPath, type Path } from './path.ts'
import type { Problem } from './problem.ts'
import { child, isList, isMap, Scalar, type Tree } from './scalar.ts'
import { type UpstreamUrl, upstreamUrl } from './upstream-url.ts'
import type { Position } from './yaml-text.ts'

const urlField = upstreamUrl()

/** What is wrong inside single entries though each of their keys is right by itself. */
export function checkEntries(
  tree: Tree,
  locate: (path: string) => Position | null,
): readonly Problem[] {
  const problems: Problem[] = []
  const report: Report = (severity, path, message, hint) => {
    const place = formatPath(path)
    const { line = null, column = null } = locate(place) ?? {}
    problems.push({ severity, path: place, line, column, message, hint })
  }
  for (const [endpoint, path] of entries(child(tree, 'endpoints'), ['endpoints'])) {
    checkEndpoint(endpoint, path, report)
  }
  for (const tier of ['direct-rpc', 'backup-direct-rpc']) {
    for (const [upstream, path] of entries(child(tree, tier), [tier])) {
      checkNodeUrls(upstream, path, report)
    }
  }
  return problems
}

type Report = (
  severity: Problem['severity'],
  path: Path,
  message: string,
  hint: string | null,
) => void

function checkEndpoint(endpoint: Tree, path: Path, report: Report): void {
  const told = ['network-address', 'listen-address'].map((name) => child(endpoint, name))
  if (told.includes(undefined)) return
  const [one, other] = told.map((value) => (value instanceof Scalar ? value.reveal() : null))
  // Many files have both, with the same address.
  if (one !== null && one === other) return
  const message = 'network-address and listen-address are two names of one key'
  report('error', [...path, 'listen-address'], message, 'Keep one of them.')
}

function checkNodeUrls(upstream: Tree, path: Path, report: Report): void {
  for (const [entry, place] of entries(child(upstream, 'node-urls'), [...path, 'node-urls'])) {
    warnOfGrpcConfig(entry, place, report)
    const url = readUrl(entry)
    if (url === null) continue
    const apiInterface = child(upstream, 'api-interface')
    checkScheme(apiInterface, [...place, 'url'], url, report)
    checkQuery(apiInterface, entry, place, url, report)
    checkAuth(child(entry, 'auth-config'), [...place, 'auth-config'], url, report)
  }
}

/** Kindred routers have settings there of which nothing is to be done here. */
function warnOfGrpcConfig(entry: Tree, path: Path, report: Report): void {
  if (child(entry, 'grpc-config') === undefined) return
  const why =
    'Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.'
  report('warning', [...path, 'grpc-config'], 'grpc-config has no effect', why)
}

/** By which wires a node can be asked through an interface. */
const schemesOf: Readonly<Record<string, readonly UpstreamUrl['scheme'][]>> = {
  jsonrpc: ['http', 'https', 'ws', 'wss'],
  tendermintrpc: ['http', 'https', 'ws', 'wss'],
  rest: ['http', 'https'],
  grpc: ['grpc', 'grpcs', 'http', 'https'],
}

function checkScheme(
  apiInterface: Tree | undefined,
  path: Path,
  { scheme }: UpstreamUrl,
  report: Report,
): void {
  if (!(apiInterface instanceof Scalar)) return
  const name = apiInterface.reveal()
  const allowed = name === null ? undefined : schemesOf[name]
  if (!allowed || allowed.includes(scheme)) return
  const message = `a ${scheme} URL cannot serve ${name}`
  report('error', path, message, `Write one of: ${allowed.join(', ')}.`)
}

/** In gRPC the path is the method and nothing else: with a query behind it no node would know it. */
function checkQuery(
  apiInterface: Tree | undefined,
  entry: Tree,
  path: Path,
  { url, scheme }: UpstreamUrl,
  report: Report,
): void {
  const isGrpc = apiInterface instanceof Scalar && apiInterface.reveal() === 'grpc'
  if (!isGrpc && !scheme.startsWith('grpc')) return
  const hint = 'Write the key under auth-config, auth-headers: it is sent as metadata.'
  const message = 'gRPC has no query parameters'
  if (new URL(url.reveal()).search !== '') report('error', [...path, 'url'], message, hint)
  const ofAuth = child(child(entry, 'auth-config'), 'auth-query')
  if (ofAuth !== undefined) report('error', [...path, 'auth-config', 'auth-query'], message, hint)
}

function checkAuth(auth: Tree | undefined, path: Path, url: UpstreamUrl, report: Report): void {
  const headers = child(auth, 'auth-headers')
  const own = isMap(headers)
    ? Object.keys(headers).find((name) => name.toLowerCase() === 'authorization')
    : undefined
  if (own !== undefined && url.basicAuth !== null) {
    const message = 'the URL has a user and a password, which are an authorization header too'
    report('error', [...path, 'auth-headers', own], message, 'Keep one of them.')
  }
  const tls = child(auth, 'tls')
  if (!isMap(tls)) return
  if (!['https', 'wss', 'grpcs'].includes(url.scheme)) {
    const message = `TLS is configured for a URL whose scheme, ${url.scheme}, has none`
    report('error', [...path, 'tls'], message, `Write ${url.scheme}s or remove tls.`)
  }
  for (const [key, other] of [
    ['cert-file', 'key-file'],
    ['key-file', 'cert-file'],
  ] as const) {
    if (child(tls, key) !== undefined && child(tls, other) === undefined) {
      report('error', [...path, 'tls', key], `${key} needs ${other} beside it`, null)
    }
  }
}

function readUrl(entry: Tree): UpstreamUrl | null {
  const parsed = urlField.safeParse(child(entry, 'url'))
  return parsed.success ? parsed.data : null
}

function entries(
  list: Tree | undefined,
  path: Path,
): readonly (readonly [entry: Tree, path: Path])[] {
  return isList(list) ? list.map((entry, index) => [entry, [...path, index]] as const) : []
}
