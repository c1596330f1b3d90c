// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type KnownChains, checkPolicy } from './check-chains.ts'
import type { Entries, Located, LocatedUpstream } from '../entries.ts'
import { addressesOverlap, formatAddress, isLocalHost } from '../fields/address.ts'
import type { UpstreamUrl } from '../fields/upstream-url.ts'
import { gather, type Locate, type Problem, quote, type Report } from '../problem.ts'
import {
  type ConfigFile,
  defaultAddress,
  type NodeUrlEntry,
  type UpstreamEntry,
} from '../schema.ts'
import { checkStore } from '../store.ts'
import { checkTlsPair } from '../tls-section.ts'
import type { Address, ApiInterface } from '../types.ts'
import type { Partly } from '../partly.ts'

/* Checks that span several keys of an entry. */

export function checkEntries({ endpoints, upstreams, policies }: Entries, report: Report): void {
  for (const { entry, path } of endpoints) {
    const { 'network-address': address, 'listen-address': other } = entry
    // Many files set both keys to the same address.
    if (!address || !other || formatAddress(address) === formatAddress(other)) continue
    const message = 'network-address and listen-address are two names of one key'
    report(`${path}.listen-address`, message, 'Keep one of them.')
  }
  for (const { entry, path } of [...endpoints, ...upstreams]) {
    const { 'allowed-methods': allowed = [], 'denied-methods': denied = [] } = entry
    for (const [index, pattern] of denied.entries())
      if (pattern !== undefined && allowed.includes(pattern)) {
        const message = `${quote(pattern)} is in allowed-methods too`
        report(`${path}.denied-methods[${index}]`, message, 'Keep one of them.')
      }
  }
  for (const { entry, urls } of upstreams)
    for (const url of urls) checkUrl(url, entry['api-interface'], report)
  for (const { entry, path } of policies) checkPolicy(entry, path, report)
}

const http = ['http', 'https'] as const
/** URL schemes that the nodes of each interface use. */
const schemesOf: Readonly<Record<ApiInterface, readonly UpstreamUrl['scheme'][]>> = {
  jsonrpc: [...http, 'ws', 'wss'],
  tendermintrpc: [...http, 'ws', 'wss'],
  rest: http,
  grpc: ['grpc', 'grpcs', ...http],
}

function checkUrl(
  { entry, path }: Located<NodeUrlEntry>,
  apiInterface: ApiInterface | undefined,
  report: Report,
): void {
  if (entry['grpc-config'] !== undefined) {
    const why =
      'Calls are relayed as bytes, without descriptors and reflection; whether there is TLS follows from the scheme of the URL, grpc or grpcs. Remove the key.'
    report(`${path}.grpc-config`, 'grpc-config has no effect', why, 'warning')
  }
  const { url, 'auth-config': auth = {} } = entry
  if (url === undefined) return
  const allowed = apiInterface && schemesOf[apiInterface]
  if (allowed && !allowed.includes(url.scheme)) {
    const message = `a ${url.scheme} URL cannot serve ${apiInterface}`
    report(`${path}.url`, message, `Write one of: ${allowed.join(', ')}.`)
  }
  if (apiInterface === 'grpc' || url.scheme.startsWith('grpc')) {
    // A gRPC path is the method alone; no node would recognise it with a query.
    const message = 'gRPC has no query parameters'
    const hint = 'Write the key under auth-config, auth-headers: it is sent as metadata.'
    if (new URL(url.url.reveal()).search !== '') report(`${path}.url`, message, hint)
    if (auth['auth-query']) report(`${path}.auth-config.auth-query`, message, hint)
  }
  checkAuth(auth, `${path}.auth-config`, url, report)
}

function checkAuth(
  { 'auth-headers': headers, tls }: Partly<NonNullable<NodeUrlEntry['auth-config']>>,
  path: string,
  url: UpstreamUrl,
  report: Report,
): void {
  const own = headers?.keys().find((name) => name.toLowerCase() === 'authorization')
  if (own !== undefined && url.basicAuth !== null) {
    const message = 'the URL has a user and a password, which are an authorization header too'
    report(`${path}.auth-headers.${own}`, message, 'Keep one of them.')
  }
  if (tls === undefined) return
  if (!['https', 'wss', 'grpcs'].includes(url.scheme)) {
    const message = `TLS is configured for a URL whose scheme, ${url.scheme}, has none`
    report(`${path}.tls`, message, `Write ${url.scheme}s or remove tls.`)
  }
  checkTlsPair(tls, `${path}.tls`, report)
}

const memoryFirst =
  'Set cache-bytes, such as 128MiB: each replica caches answers in its memory first.'
const storeOrder =
  'Answers are in cache.resp-cache, else in cache-be, else in resp-cache; sessions, with shared-state, in resp-cache, else in cache-be.'

/** Reports conflicts between shared stores, and settings that need a store when there is none. */
export function checkSharing(file: Partly<ConfigFile>, report: Report): void {
  const { cache = {} } = file
  checkStore(file['resp-cache'], 'resp-cache', report)
  checkStore(cache['resp-cache'], 'cache.resp-cache', report)
  const stores = [
    ...('resp-cache' in cache ? ['cache.resp-cache'] : []),
    ...(['cache-be', 'resp-cache'] as const).filter((key) => key in file),
  ]
  if (cache.shared === true && stores.length === 0)
    report('cache.shared', 'there is no store to share answers in', 'Set cache-be or resp-cache.')
  const isOff = file['cache-bytes'] === 0
  const [why, hint] = isOff
    ? [' while cache-bytes is 0', memoryFirst]
    : cache.shared === false
      ? [' while cache.shared is false', 'Remove one of them.']
      : ['', storeOrder]
  const used = [
    why === '' && stores[0],
    file['shared-state'] !== false && stores.findLast((key) => key !== 'cache.resp-cache'),
  ]
  const idle = stores.filter((key) => !used.includes(key))
  if (isOff && cache.policies?.length) idle.push('cache.policies')
  for (const key of idle)
    report(key, `${key} has no effect${why}`, hint, why === '' ? 'error' : 'warning')
}

const adminKey = 'metrics-listen-address'

/** Reports listen addresses that collide, and upstreams that point back at the router. */
export function checkAddresses(
  { endpoints, upstreams }: Entries,
  admin: Address | null,
  hasWorkers: boolean,
  locate: Locate,
  report: Report,
): void {
  const listeners = endpoints.flatMap(({ entry, path }) => {
    const key = (['network-address', 'listen-address'] as const).find((name) => name in entry)
    if (key === undefined) return { of: path, path, address: defaultAddress }
    const address = entry[key]
    if (hasWorkers && address?.port === 0)
      report(`${path}.${key}`, 'port 0 would be a different port for each worker', 'Name a port.')
    return address === undefined ? [] : { of: path, path: `${path}.${key}`, address }
  })
  const ofAdmin = admin === null ? [] : [{ of: adminKey, path: adminKey, address: admin }]
  const all = [...ofAdmin, ...listeners]
  for (const [index, { address, path }] of all.entries()) {
    const other = all.find((each, at) => at >= index || addressesOverlap(each.address, address))
    if (other === undefined || other.path === path) continue
    const line = locate(other.path)?.line
    const where = line === undefined ? other.of : `${other.of} on line ${line}`
    const message = `${formatAddress(address)} collides with ${formatAddress(other.address)} of ${where}`
    report(path, message, 'Give each its own port.')
  }
  for (const { entry, path } of upstreams.flatMap(({ urls }) => urls)) {
    const url = entry.url?.url.reveal()
    const own = url && listeners.find(({ address }) => leadsTo(url, address))
    if (!own) continue
    const message = `the URL is the router's own listener, ${formatAddress(own.address)} of ${own.of}`
    const hint = 'Its calls would loop. Name the node itself.'
    report(`${path}.url`, message, hint, 'warning')
  }
}

/** Whether a URL points at the listener's port on this machine. */
function leadsTo(text: string, { host, port }: Address): boolean {
  const url = new URL(text.replace(/^(?:ws|grpc|http)(s?):/, 'http$1:'))
  const urlPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const urlHost = url.hostname.replace(/^\[|\]$/g, '')
  return urlPort === port && (urlHost === host || isLocalHost(urlHost))
}

function lineOf(path: string, locate: Locate): string {
  return `line ${locate(path)?.line ?? '?'}`
}

/**
 * Reports duplicate names and URLs, listeners without upstreams, and upstreams without listeners.
 * Skips unreadable entries.
 */
export function checkServing(
  { endpoints, upstreams }: Entries,
  known: KnownChains,
  locate: Locate,
): readonly Problem[] {
  return gather(locate, (report) => {
    /** `ETH1 jsonrpc`; null when the chain or interface of the entry is unreadable. */
    const servesOf = ({ entry }: Located<Pick<UpstreamEntry, 'chain-id' | 'api-interface'>>) => {
      const { 'chain-id': chainId, 'api-interface': apiInterface } = entry
      const chain = chainId === undefined ? null : known.find(chainId)
      if (chain === null || apiInterface === undefined) return null
      // Another check reports an interface that the chain lacks.
      return chain.interfaces?.has(apiInterface) === false ? null : `${chain.id} ${apiInterface}`
    }
    const offered = new Map(endpoints.map((endpoint) => [endpoint.path, servesOf(endpoint)]))
    const served = new Map(upstreams.map((upstream) => [upstream, servesOf(upstream)]))
    const byName = new Map<string, string>()
    const byUrl = new Map<string, { readonly upstream: LocatedUpstream; readonly path: string }>()
    for (const [upstream, serves] of served) {
      const { entry, path, urls } = upstream
      if (serves === null) continue
      const first = byName.get(`${serves} ${entry.name}`)
      if (first === undefined) byName.set(`${serves} ${entry.name}`, path)
      else if (entry.name !== undefined) {
        const message = `an upstream named ${quote(entry.name)} serves ${serves} already`
        const hint = `It is on ${lineOf(`${first}.name`, locate)}. Names are unique per chain and interface, over both tiers.`
        report(`${path}.name`, message, hint)
      }
      for (const { entry: node, path: at } of urls) {
        if (node.url === undefined) continue
        const key = `${serves} ${node.url.url.reveal()}`
        const same = byUrl.get(key) ?? { upstream, path: at }
        byUrl.set(key, same)
        if (same.upstream === upstream) continue
        const message = `upstream ${quote(same.upstream.entry.name ?? '')} has the same URL, on ${lineOf(`${same.path}.url`, locate)}`
        const hint = 'A retry at one of them is no second chance, and its failures count twice.'
        report(`${at}.url`, message, hint, 'warning')
      }
    }
    const primaries = [...served].filter(([{ tier }]) => tier === 'primary')
    const ids = new Set(primaries.map(([, serves]) => serves))
    for (const [path, serves] of ids.has(null) ? [] : offered)
      if (serves !== null && !ids.has(serves)) {
        const hint = ids.size === 0 ? 'Add one.' : `Existing ones serve ${[...ids].join(', ')}.`
        report(path, `no upstream of direct-rpc serves ${serves}`, hint)
      }
    const listened = new Set(offered.values())
    for (const [{ path }, serves] of listened.has(null) ? [] : served)
      if (serves !== null && !listened.has(serves)) {
        const message = `no listener of endpoints serves ${serves}, so this upstream is not used`
        report(path, message, null, 'warning')
      }
  })
}
