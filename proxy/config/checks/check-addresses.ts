// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Entries } from '../entries.ts'
import { addressesOverlap, formatAddress, isLocalHost } from '../fields/address.ts'
import type { Locate, Report } from '../problem.ts'
import { defaultAddress } from '../schema.ts'
import type { Address } from '../types.ts'

const adminKey = 'metrics-listen-address'

/** Addresses of a file that collide, and upstreams that are the router itself. */
export function checkAddresses(
  { endpoints, upstreams }: Entries,
  admin: Address | null,
  locate: Locate,
  report: Report,
): void {
  const listeners = endpoints.flatMap(({ entry, path }) => {
    const key = (['network-address', 'listen-address'] as const).find((name) => name in entry)
    const address = key === undefined ? defaultAddress : entry[key]
    if (address === undefined) return []
    return { of: path, path: key === undefined ? path : `${path}.${key}`, address }
  })
  const others = admin === null ? [] : [{ of: adminKey, path: adminKey, address: admin }]
  for (const [index, { address, path }] of listeners.entries())
    for (const other of [...listeners.slice(0, index), ...others]) {
      if (!addressesOverlap(other.address, address)) continue
      const where = other.of === adminKey ? '' : ` on line ${locate(other.path)?.line ?? '?'}`
      const message = `${formatAddress(address)} collides with ${formatAddress(other.address)} of ${other.of}${where}`
      report(path, message, 'Give each its own port.')
    }
  for (const { entry, path } of upstreams.flatMap(({ urls }) => urls)) {
    const url = entry.url?.url.reveal()
    const own = url && listeners.find(({ address }) => leadsTo(url, address))
    if (!own) continue
    const message = `the URL is the router's own listener, ${formatAddress(own.address)} of ${own.of}`
    const hint = 'Its calls would go round in a circle. Name the node itself.'
    report(`${path}.url`, message, hint, 'warning')
  }
}

/** Whether a URL leads to this machine and the port of a listener. */
function leadsTo(text: string, { host, port }: Address): boolean {
  const url = new URL(text.replace(/^(?:ws|grpc|http)(s?):/, 'http$1:'))
  const urlPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const urlHost = url.hostname.replace(/^\[|\]$/g, '')
  return urlPort === port && (urlHost === host || isLocalHost(urlHost))
}
