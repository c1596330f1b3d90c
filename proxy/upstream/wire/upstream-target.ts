// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { decoded } from '../../config/secret.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import { readTls, type TlsOptions } from './tls.ts'
import type { HeaderList } from '../wire.ts'

/** Where a URL's requests go and with what, whatever the wire. Holds keys: never printed. */
export class UpstreamTarget {
  /** `https://node.example.com:8443`. */
  readonly origin: string
  /** `node.example.com:8443`. */
  readonly host: string
  /** What the router sends with every request; names are lower case. */
  readonly authHeaders: HeaderList
  readonly tls: TlsOptions
  readonly #authNames: ReadonlySet<string>
  readonly #basePath: string
  readonly #query: string
  readonly #keyNames: readonly string[]
  readonly #ownNames: ReadonlySet<string>
  /** For most calls of an interface, which have the same. */
  #last: { readonly of: HeaderList; readonly all: HeaderList } | null = null

  /**
   * @param ownHeaders what the router sends of its own accord, where the URL's own headers have no such name
   * @throws TlsFileError
   */
  constructor(
    config: NodeUrlConfig,
    ownHeaders: Readonly<Record<string, string | undefined>> = {},
  ) {
    const url = new URL(config.url.reveal())
    this.host = url.host
    this.origin = `${url.protocol}//${url.host}`
    const authHeaders = [...config.authHeaders].flatMap(([name, value]) => [name, value.reveal()])
    for (const [name, value] of Object.entries(ownHeaders))
      if (value !== undefined && !config.authHeaders.has(name)) authHeaders.push(name, value)
    this.authHeaders = authHeaders
    this.#authNames = new Set(this.authHeaders.filter((_, at) => at % 2 === 0))
    this.tls = readTls(config.tls)
    this.#basePath = url.pathname.replace(/\/$/, '')
    this.#query = queryOf(url, config)
    this.#keyNames = [...new URLSearchParams(this.#query).keys()]
    this.#ownNames = new Set(this.#keyNames.map((name) => name.toLowerCase()))
  }

  /** The headers of a request, where the URL's own stand in place of any that have their names. */
  headersWith(headers: HeaderList): HeaderList {
    if (this.#authNames.size === 0) return headers
    if (this.#last?.of === headers) return this.#last.all
    const all: string[] = []
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string
      if (!this.#authNames.has(name.toLowerCase())) all.push(name, headers[at + 1] as string)
    }
    all.push(...this.authHeaders)
    this.#last = { of: headers, all }
    return all
  }

  /**
   * The path and query to ask for: the URL's own base, the call's path, and the keys of both. The URL's
   * own stand in place of any that have their names, and first: servers read only so many parameters.
   */
  pathOf(path: string): string {
    const joined = this.#basePath + path || '/'
    if (!this.#query) return joined
    const [bare, query] = splitAtMark(joined)
    const others = this.#foreign(query)
    return `${bare}?${this.#query}${others && '&'}${others}`
  }

  /** A query without the parameters that have the name of one of the URL's own. */
  #foreign(query: string): string {
    const isForeign = (parameter: string) => {
      const [name = ''] = parameter.split('=', 1)
      return !this.#ownNames.has(decoded(name.replaceAll('+', ' ')).toLowerCase())
    }
    return query.split('&').filter(isForeign).join('&')
  }

  /**
   * Where a node's `Location` leads, as a client of the router must ask for it: without the URL's own
   * base and keys. Null for one that would name the node or give a key away, or that leads elsewhere.
   */
  clientLocation(location: string): string | null {
    let path = location
    if (this.#query) {
      const [bare, query] = splitAtMark(path)
      const others = this.#foreign(query)
      path = others ? `${bare}?${others}` : bare
    }
    if (this.#keyNames.some((name) => path.includes(`${name}=`))) return null
    if (!path.startsWith('/') || !path.startsWith(this.#basePath)) return null
    path = path.slice(this.#basePath.length)
    if (path === '' || path.startsWith('?')) path = `/${path}`
    // Two of them begin a host, also when the second one is the wrong way round.
    return /^\/(?![/\\])/.test(path) ? path : null
  }
}

function queryOf(url: URL, config: NodeUrlConfig): string {
  const keys = [...config.authQuery].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.reveal())}`,
  )
  return [url.search.slice(1), ...keys].filter(Boolean).join('&')
}

/** A path and what stands behind its `?`, if anything. */
function splitAtMark(path: string): readonly [bare: string, query: string] {
  const mark = path.indexOf('?')
  return mark < 0 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)]
}
