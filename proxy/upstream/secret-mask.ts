// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { decoded } from '../config/key-looks.ts'
import { isTellable } from '../config/secret-parts.ts'
import type { NodeUrlConfig } from '../config/types.ts'
import { JsonPlace } from './json-place.ts'
import { maskBytes } from './mask-bytes.ts'
import { MaskedStream } from './masked-stream.ts'
import { secretPattern, type SecretPattern } from './secret-pattern.ts'
import { header, type HeaderList, type Incoming } from './wire.ts'

/** What frames an answer or says how to read it. */
const structuralHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'grpc-encoding',
  'grpc-status',
  'retry-after',
  'trailer',
  'transfer-encoding',
])
/** A password that is one of the names in an answer would hide the answer. */
const protocolNames = 'jsonrpc id method params result error code message data details'

/**
 * Hides the keys of one URL in what its node says: an error page that names the URL that it was asked by, an error that
 * repeats a header. Each byte of a key becomes an asterisk, so that no length changes: not of the body, nor of a message
 * inside another one.
 */
export class SecretMask {
  readonly #secrets: SecretPattern | null

  constructor({ url, authHeaders, authQuery }: NodeUrlConfig) {
    const secrets = [url, ...authHeaders.values(), ...authQuery.values()]
    const values = secrets.flatMap((secret) => secret.keys()).flatMap(decodedToo)
    this.#secrets = secretPattern(values.filter(isMaskable))
  }

  /** The same answer without the keys: its headers, its body, its trailers. */
  incoming(incoming: Incoming): Incoming {
    if (this.#secrets === null) return incoming
    const { headers, body } = incoming
    // Messages of gRPC are results; its errors stand in trailers.
    const isGrpc = header(headers, 'content-type')?.startsWith('application/grpc') ?? false
    return {
      ...incoming,
      headers: this.#headers(headers),
      body: isGrpc ? body : this.#body(body),
      trailers: () => this.#headers(incoming.trailers()),
    }
  }

  bytes(bytes: Uint8Array): Uint8Array {
    if (this.#secrets === null) return bytes
    const told = Buffer.from(bytes)
    maskBytes(told, this.#secrets, Infinity, new JsonPlace())
    return told.equals(bytes) ? bytes : told
  }

  #body(body: Incoming['body']): Incoming['body'] {
    if (body instanceof Uint8Array) return this.bytes(body)
    return this.#secrets ? new MaskedStream(body, this.#secrets) : body
  }

  #headers(headers: HeaderList): HeaderList {
    let masked: string[] | null = null
    for (let at = 1; at < headers.length; at += 2) {
      const name = (headers[at - 1] as string).toLowerCase()
      if (structuralHeaders.has(name)) continue
      const value = headers[at] as string
      const told = name.endsWith('-bin') ? this.#binary(value) : this.#text(value)
      if (told !== value) (masked ??= [...headers])[at] = told
    }
    return masked ?? headers
  }

  /** Metadata of gRPC in base64, such as the details of an error; of several values each. */
  #binary(value: string): string {
    const told = value.split(',').map((each) => {
      const bytes = Buffer.from(each, 'base64')
      const masked = this.bytes(bytes)
      return masked === bytes ? each : Buffer.from(masked).toString('base64').replace(/=+$/, '')
    })
    return told.join(',')
  }

  #text(text: string): string {
    return this.#secrets === null ? text : text.replace(this.#secrets.pattern, stars)
  }
}

function stars(found: string): string {
  return '*'.repeat(found.length)
}

/** A part of a URL as it stands there, and as a server understands it. */
function decodedToo(part: string): readonly string[] {
  const trimmed = part.trim()
  return [trimmed, decoded(trimmed)]
}

function isMaskable(value: string): boolean {
  return isTellable(value) && !protocolNames.includes(value.toLowerCase())
}
