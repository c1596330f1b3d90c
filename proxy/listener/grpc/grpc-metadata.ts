// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/hop-by-hop.ts'
import type { HeaderList } from '../../upstream/wire.ts'

/** Of one connection, of HTTP/2 itself, or for somebody else than the node. */
const ownToEachHop: ReadonlySet<string> = new Set([...hopByHop, 'host'])

/** What names the client to the edge in front of the router is not for a provider. */
const ofTheClient: ReadonlySet<string> = new Set(['authorization', 'cookie'])

/**
 * A client's metadata for the node: all of it, since it belongs to the call, save for what speaks to
 * the router and what would give the client's credentials away.
 */
export function metadataForNode(headers: HeaderList, allowed: ReadonlySet<string>): HeaderList {
  return filtered(headers, (name) => {
    if (name.startsWith('rpc-')) return false
    return !ofTheClient.has(name) || allowed.has(name)
  })
}

/** A node's metadata for the client. */
export function metadataForClient(headers: HeaderList): HeaderList {
  return filtered(headers, () => true)
}

function filtered(headers: HeaderList, takes: (name: string) => boolean): HeaderList {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    const value = headers[at + 1] as string
    if (name.startsWith(':') || ownToEachHop.has(name) || !takes(name)) continue
    // RFC 9113, 8.2.2.
    if (name === 'te' && value !== 'trailers') continue
    kept.push(name, value)
  }
  return kept
}
