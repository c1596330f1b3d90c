// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrlConfig } from '../config/types.ts'
import { readTls, type TlsOptions } from './tls.ts'
import type { HeaderList } from './wire.ts'

/** Where a URL's requests go and with what, whatever the wire. Holds keys: never printed. */
export class UpstreamTarget {
  /** `https://node.example.com:8443`. */
  readonly origin: string
  /** `node.example.com:8443`. */
  readonly host: string
  readonly authHeaders: HeaderList
  readonly tls: TlsOptions
  readonly #basePath: string
  readonly #query: string

  /** @throws TlsFileError */
  constructor(config: NodeUrlConfig) {
    const url = new URL(config.url.reveal())
    this.host = url.host
    this.origin = `${url.protocol}//${url.host}`
    this.authHeaders = [...config.authHeaders].flatMap(([name, value]) => [name, value.reveal()])
    this.tls = readTls(config.tls)
    this.#basePath = url.pathname.replace(/\/$/, '')
    this.#query = queryOf(url, config)
  }

  /** The path and query to ask for: the URL's own base, the call's path, and the keys of both. */
  pathOf(path: string): string {
    const joined = this.#basePath + path || '/'
    if (!this.#query) return joined
    return joined + (joined.includes('?') ? '&' : '?') + this.#query
  }
}

function queryOf(url: URL, config: NodeUrlConfig): string {
  const keys = [...config.authQuery].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.reveal())}`,
  )
  return [url.search.slice(1), ...keys].filter(Boolean).join('&')
}
