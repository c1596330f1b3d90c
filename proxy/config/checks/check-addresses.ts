// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { addressesOverlap, formatAddress, isLocalHost } from '../fields/address.ts'
import { address } from '../fields/fields.ts'
import type { Locate, Report } from '../problem.ts'
import { defaultPort } from '../schema.ts'
import type { Address } from '../types.ts'
import { child, Scalar, type Tree } from '../yaml/scalar.ts'
import type { Entries } from './entries.ts'

const addressField = address(defaultPort)

/** Something that the router listens on. */
interface Listening {
  /** `endpoints[0]`, or the setting of the admin address. */
  readonly of: string
  /** Of the key that says it, or of the entry when none does. */
  readonly path: string
  readonly address: Address
  /** What messages show: placeholders unrendered. */
  readonly shown: string
}

/** Addresses of a file that collide, and upstreams that are the router itself. */
export function checkAddresses(
  { endpoints, upstreams }: Entries,
  metrics: Scalar | null,
  locate: Locate,
  report: Report,
): void {
  const adminKey = 'metrics-listen-address'
  const admin = metrics === null ? [] : listening(adminKey, adminKey, metrics)
  const listeners = endpoints.flatMap(({ tree, path }) => readListener(tree, path))
  for (const [index, { address: own, path, shown }] of listeners.entries())
    for (const other of [...listeners.slice(0, index), ...admin]) {
      if (!addressesOverlap(other.address, own)) continue
      const where = other.of === adminKey ? '' : ` on line ${locate(other.path)?.line ?? '?'}`
      const message = `${shown} collides with ${other.shown} of ${other.of}${where}`
      report(path, message, 'Give each its own port.')
    }
  for (const { url, path } of upstreams.flatMap(({ urls }) => urls)) {
    const own = url && listeners.find(({ address: at }) => leadsTo(url.url.reveal(), at))
    if (!own) continue
    const message = `the URL is the router's own listener, ${own.shown} of ${own.of}`
    const hint = 'Its calls would go round in a circle. Name the node itself.'
    report(`${path}.url`, message, hint, 'warning')
  }
}

function readListener(entry: Tree, path: string): readonly Listening[] {
  const key = ['network-address', 'listen-address'].find((name) => child(entry, name) !== undefined)
  const written = key === undefined ? new Scalar(`:${defaultPort}`) : child(entry, key)
  return written instanceof Scalar
    ? listening(path, key === undefined ? path : `${path}.${key}`, written)
    : []
}

function listening(of: string, path: string, scalar: Scalar): readonly Listening[] {
  const found = scalar.reveal() === 'off' ? undefined : addressField.safeParse(scalar).data
  if (found === undefined) return []
  const shown = scalar.hasPlaceholder ? scalar.written : formatAddress(found)
  return [{ of, path, address: found, shown }]
}

/** Whether a URL leads to this machine and the port of a listener. */
function leadsTo(text: string, { host, port }: Address): boolean {
  const url = new URL(text.replace(/^(?:ws|grpc|http)(s?):/, 'http$1:'))
  const urlPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const urlHost = url.hostname.replace(/^\[|\]$/g, '')
  return urlPort === port && (urlHost === host || isLocalHost(urlHost))
}
