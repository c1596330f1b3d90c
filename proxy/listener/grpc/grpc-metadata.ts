// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../../config/hop-by-hop.ts'
import type { HeaderList } from '../../upstream/wire.ts'
import { clientCredentials } from './client-credentials.ts'

/** Of one connection, of HTTP/2 itself, or for somebody else than the node. */
const ownToEachHop: ReadonlySet<string> = new Set([...hopByHop, 'host', 'te'])

const ofTheClient: ReadonlySet<string> = new Set(clientCredentials)

/**
 * A client's metadata for the node: all of it, since it belongs to the call, save for what speaks to
 * the router and what would give the client's credentials away.
 * @param allowed what the spec lists, lower case
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
    if (name.startsWith(':') || ownToEachHop.has(name) || !takes(name)) continue
    // Space around a value is none of it ("ASCII-Value" of gRPC over HTTP/2), and HTTP/2 has none there.
    kept.push(name, (headers[at + 1] as string).trim())
  }
  return kept
}
