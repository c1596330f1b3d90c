// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import type { ClientsConfig } from '../config/types.ts'
import type { Client } from '../relay/call.ts'
import { header, type HeaderList } from '../upstream/wire.ts'
import { listOf } from './request-head.ts'

/** Bounds of the stored results; a range check costs microseconds. */
const most = { results: 1_000, characters: 200 }

/** Finds the addresses of clients. */
export class ClientAddresses {
  readonly #config: ClientsConfig
  readonly #known = new Map<string, string>()

  constructor(config: ClientsConfig) {
    this.#config = config
  }

  /** Whether an address tells clients apart. Otherwise, many may share that of a proxy. */
  get isDistinct(): boolean {
    return this.#config.trustedProxies !== null
  }

  /**
   * The client's address: that of the connection or, if it is a trusted proxy, the last address in
   * the header that is none. Clients can forge every earlier address.
   */
  of(remoteAddress: string | undefined, headers: HeaderList): string {
    const remote = remoteAddress ?? ''
    const address = remote.startsWith(mapped) ? remote.slice(mapped.length) : remote
    if (this.#config.trustedProxies === null) return address
    const hops = listOf(headers, this.#config.addressHeader) ?? ''
    const key = `${address} ${hops}`
    let found = this.#known.get(key)
    if (found !== undefined) return found
    // A copy, because a part of the header would retain all of it.
    found = Buffer.from(this.#search(address, hops.split(','))).toString()
    if (this.#known.size >= most.results) this.#known.clear()
    if (key.length <= most.characters) this.#known.set(key, found)
    return found
  }

  /** The client of a request that is no exchange. */
  client(remote: string | undefined, headers: HeaderList, path: string): Client {
    return { address: this.of(remote, headers), userAgent: header(headers, 'user-agent'), path }
  }

  #search(remote: string, hops: string[]): string {
    const { trustedProxies } = this.#config
    const isTrusted = (each: string) =>
      trustedProxies?.check(each, isIP(each) === 6 ? 'ipv6' : 'ipv4') === true
    let address = remote
    while (isTrusted(address)) {
      const next = addressIn(hops.pop()?.trim() ?? '')
      if (isIP(next) === 0) break
      address = next
    }
    return address
  }
}

/** Prefix of an IPv4 address on a socket of IPv6. */
const mapped = '::ffff:'

/** Strips the port and brackets that some proxies add: `203.0.113.7:5122`, `[2001:db8::1]:5122`. */
function addressIn(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(hop) ?? []
  return bracketed ?? plain ?? hop
}
