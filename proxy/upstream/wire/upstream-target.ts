// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { whyUnreadable } from '../../config/problem.ts'
import { decoded } from '../../config/secret.ts'
import { validateTls, type TlsFault } from '../../config/tls-material.ts'
import type { NodeUrlConfig } from '../../config/types.ts'
import type { HeaderList } from '../wire.ts'

/** The part of a URL's config that concerns the wire. */
export type WireConfig = Pick<
  NodeUrlConfig,
  'url' | 'scheme' | 'compression' | 'authHeaders' | 'authQuery' | 'tls'
>

/** Target of a URL's requests, with its credentials, for any wire. Has keys: never print it. */
export class UpstreamTarget {
  /** `https://node.example.com:8443`. */
  readonly origin: string
  /** `node.example.com:8443`. */
  readonly host: string
  /** Headers that the router sends with every request; names are lower case. */
  readonly authHeaders: HeaderList
  readonly tls: TlsOptions
  readonly #authNames: ReadonlySet<string>
  readonly #basePath: string
  readonly #query: string
  readonly #ownNames: ReadonlySet<string>
  /** Cache of the last result, since most calls of an interface have the same headers. */
  #last: { readonly of: HeaderList; readonly all: HeaderList } | null = null

  /**
   * @param ownHeaders headers that the router adds unless the URL has them
   * @throws TlsFileError
   */
  constructor(config: WireConfig, ownHeaders: Readonly<Record<string, string | undefined>> = {}) {
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
    this.#ownNames = new Set(this.#query.split('&').map(nameOf))
  }

  /** Headers of a request, in which those of the URL replace any with the same names. */
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
   * Path and query of a request: the URL's base, the call's path, and the keys of both. Keys of the
   * URL replace any with their names, and come first: some servers read a limited number.
   */
  pathOf(path: string): string {
    const joined = this.#basePath + path || '/'
    if (!this.#query) return joined
    const mark = joined.indexOf('?')
    if (mark < 0) return `${joined}?${this.#query}`
    const parameters = joined.slice(mark + 1).split('&')
    const others = parameters.filter((each) => !this.#ownNames.has(nameOf(each))).join('&')
    return `${joined.slice(0, mark)}?${this.#query}${others && '&'}${others}`
  }
}

/** The name of a parameter as servers decode it. */
function nameOf(parameter: string): string {
  const [name = ''] = parameter.split('=', 1)
  return decoded(name.replaceAll('+', ' ')).toLowerCase()
}

function queryOf(url: URL, config: WireConfig): string {
  const keys = [...config.authQuery].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.reveal())}`,
  )
  return [url.search.slice(1), ...keys].filter(Boolean).join('&')
}

/** TLS options for Node's client. */
export interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** A TLS file that cannot be used. `message` names file and config key, `reason` only the file. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError'
  readonly code = 'RPC_TLS_FILE'
  readonly key: TlsFault['key']
  readonly reason: string

  constructor(key: TlsFault['key'], reason: string, options?: ErrorOptions) {
    super(`tls.${key}: ${reason}`, options)
    this.key = key
    this.reason = reason
  }
}

/** Reads the PEM files of an upstream, once at the start. @throws TlsFileError */
export function readTls(config: NodeUrlConfig['tls']): TlsOptions {
  if (!config) return {}
  const { 'ca-file': ca, 'cert-file': cert, 'key-file': key, 'server-name': servername } = config
  const options: TlsOptions = {
    ...(ca && { ca: readPem('ca-file', ca) }),
    ...(cert && { cert: readPem('cert-file', cert) }),
    ...(key && { key: readPem('key-file', key) }),
    ...(servername && { servername }),
    ...(config['insecure-skip-verify'] && { rejectUnauthorized: false }),
  }
  const fault = validateTls(options)
  if (fault === null) return options
  throw new TlsFileError(fault.key, `${config[fault.key]} ${fault.message}`)
}

function readPem(key: TlsFault['key'], path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TlsFileError(key, `${path} cannot be read: ${whyUnreadable(cause)}`, { cause })
  }
}
