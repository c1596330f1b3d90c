// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP, type BlockList } from 'node:net'
import type { HeaderList } from '../upstream/wire.ts'
import { listOf } from './request-head.ts'

/**
 * The client's address behind trusted proxies: the last `X-Forwarded-For` address that is not a
 * trusted proxy. Clients can forge every earlier address.
 *
 * @param trusted null: no proxy is trusted, and many clients may share one address
 */
export function clientAddress(
  request: {
    readonly socket: { readonly remoteAddress?: string | undefined }
    readonly rawHeaders: HeaderList
  },
  trusted: BlockList | null,
): string | null {
  if (trusted === null) return null
  const isTrusted = (each: string) => trusted.check(each, isIP(each) === 6 ? 'ipv6' : 'ipv4')
  const hops = (listOf(request.rawHeaders, 'x-forwarded-for') ?? '').split(',')
  let address = request.socket.remoteAddress ?? ''
  while (isTrusted(address)) {
    const next = addressIn(hops.pop()?.trim() ?? '')
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** Strips the port and brackets that some proxies add: `203.0.113.7:5122`, `[2001:db8::1]:5122`. */
function addressIn(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return bracketed ?? plain ?? hop
}
